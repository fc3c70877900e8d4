import { LogOut, Trash2 } from 'lucide-react';
import type { Output } from '../../api/query.ts';
import { formatCounted } from '../../format/number.ts';
import { formatMinute } from '../../format/time.ts';
import { hasRole, type Role, roles, roleTexts, useMe, useSpace } from '../../space/space.tsx';
import { useSpaceMutation } from '../../space/use-space-query.ts';
import { actionsColumn, type Column, Table, Time } from '../../table/table.tsx';
import { Badge } from '../../ui/badge.tsx';
import { IconButton } from '../../ui/button.tsx';
import { Confirmed } from '../../ui/dialog.tsx';
import { SelectField } from '../../ui/field.tsx';
import { useAttempt, useToast } from '../../ui/toasts.tsx';

type Member = Output<'members.list'>[number];

/** Admins can change roles and remove members. */
export function MemberTable({ members }: { members: readonly Member[] }) {
  const { role } = useSpace();
  const { user } = useMe();
  const canManage = hasRole(role, 'admin');
  const owners = members.filter((member) => member.role === 'owner').length;
  /** Why a member cannot be changed; undefined when this role may change it. */
  const findObstacle = (member: Member) => {
    if (!isManageable(member, role)) return 'Only an owner can change an owner.';
    if (member.role !== 'owner' || owners > 1) return undefined;
    return 'A space needs an owner. Make another member an owner first.';
  };
  const canChange = (member: Member) => canManage && findObstacle(member) === undefined;
  return (
    <Table
      caption="Members"
      rows={members}
      keyOf={({ userId }) => userId}
      columns={[
        ...memberColumns(user.id, canChange, findObstacle),
        actionsColumn(
          (member: Member) => canManage && <MemberActions member={member} canRemove={canChange(member)} />,
        ),
      ]}
    />
  );
}

function isManageable(member: Member, own: Role): boolean {
  return member.role !== 'owner' || hasRole(own, 'owner');
}

function MemberActions({ member, canRemove }: { member: Member; canRemove: boolean }) {
  const { role, name } = useSpace();
  const toast = useToast();
  const remove = useSpaceMutation('members.remove', { reload: ['members.list', 'me'] });
  const endSessions = useSpaceMutation('members.endSessions');
  const { userId, email } = member;
  const end = async () => {
    const { ended } = await endSessions.mutateAsync({ userId });
    toast(`${formatCounted(ended, 'session')} of ${email} ended.`);
  };
  return (
    <span className="inline-flex gap-1">
      {isManageable(member, role) && (
        <Confirmed
          button={(ask) => <IconButton icon={LogOut} label={`End all sessions of ${email}`} onClick={ask} />}
          title="End all sessions"
          action="End the sessions"
          onConfirm={end}
        >
          {email} is signed out in all browsers, including in other spaces, and must sign in again.
        </Confirmed>
      )}
      {canRemove && (
        <Confirmed
          button={(ask) => <IconButton icon={Trash2} label={`Remove ${email}`} onClick={ask} />}
          title="Remove member"
          action="Remove"
          onConfirm={() => remove.mutateAsync({ userId })}
        >
          {email} loses access to {name} immediately. API keys created by this member keep working.
        </Confirmed>
      )}
    </span>
  );
}

function memberColumns(
  userId: string,
  canChange: (member: Member) => boolean,
  findObstacle: (member: Member) => string | undefined,
): Column<Member>[] {
  return [
    {
      title: 'E-mail address',
      cell: (member) => (
        <span className="flex items-center gap-2 font-medium">
          {member.email}
          {member.userId === userId && <Badge tone="accent">you</Badge>}
        </span>
      ),
    },
    {
      title: 'Role',
      cell: (member) =>
        canChange(member) ? (
          <RoleField member={member} />
        ) : (
          <span title={findObstacle(member)}>
            <Badge>{member.role}</Badge>
          </span>
        ),
    },
    {
      title: 'Address verified',
      cell: ({ emailVerifiedAt }) => <VerifiedTime at={emailVerifiedAt} />,
    },
    {
      title: 'Permissions',
      className: 'text-muted',
      isExtra: true,
      cell: (member) => roleTexts[member.role],
    },
  ];
}

/** An unverified account belongs to whoever had the link of the invitation. */
function VerifiedTime({ at }: { at: string | null }) {
  if (at !== null) return <Time at={at} format={formatMinute} />;
  return (
    <span title="The member accepted an invitation. Neither the operator nor single sign-on has verified who holds the address.">
      <Badge tone="warn">not verified</Badge>
    </span>
  );
}

function RoleField({ member }: { member: Member }) {
  const { role: own } = useSpace();
  const attempt = useAttempt();
  const { mutateAsync } = useSpaceMutation('members.setRole', { reload: ['members.list', 'me'] });
  // Only owners may assign or remove the role owner.
  const options = roles.filter((role) => hasRole(own, role) || role === member.role);
  const onChange = (role: Role) =>
    attempt(mutateAsync({ userId: member.userId, role }), `${member.email} is ${role} now.`);
  return (
    <SelectField
      label={`Role of ${member.email}`}
      isLabelHidden
      className="w-28"
      options={options.map((role) => ({ value: role, label: role }))}
      value={member.role}
      onChange={onChange}
    />
  );
}
