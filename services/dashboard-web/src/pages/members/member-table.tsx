import { LogOut, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { Output } from '../../api/query.ts';
import { formatCounted } from '../../format/number.ts';
import { formatMinute } from '../../format/time.ts';
import { useSettings } from '../../settings/settings.ts';
import { hasRole, type Role, roles, roleTexts, useMe, useSpace } from '../../space/space.tsx';
import { useSpaceMutation } from '../../space/use-space-query.ts';
import { actionsColumn, type Column, Faded, Table } from '../../table/table.tsx';
import { Badge } from '../../ui/badge.tsx';
import { IconButton } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { SelectField } from '../../ui/field.tsx';
import { useAttempt, useToast } from '../../ui/toasts.tsx';

type Member = Output<'members.list'>[number];

/** Admins can change roles and remove members. */
export function MemberTable({ members }: { members: readonly Member[] }) {
  const { role, name } = useSpace();
  const { user } = useMe();
  const [asked, setAsked] = useState<AskedChange>();
  const canManage = hasRole(role, 'admin');
  const isManageable = (member: Member) => member.role !== 'owner' || hasRole(role, 'owner');
  const owners = members.filter((member) => member.role === 'owner').length;
  /** Why a member cannot be changed; undefined when this role may change it. */
  const findObstacle = (member: Member) => {
    if (!isManageable(member)) return 'Only an owner can change an owner.';
    if (member.role !== 'owner' || owners > 1) return undefined;
    return 'A space needs an owner. Make another member an owner first.';
  };
  return (
    <>
      <Table
        caption="Members"
        rows={members}
        keyOf={({ userId }) => userId}
        columns={[
          ...memberColumns(
            user.id,
            (member) => canManage && findObstacle(member) === undefined,
            findObstacle,
          ),
          actionsColumn(
            (member: Member) =>
              canManage && (
                <span className="inline-flex gap-1">
                  {isManageable(member) && (
                    <IconButton
                      icon={LogOut}
                      label={`End all sessions of ${member.email}`}
                      onClick={() => setAsked({ kind: 'end', member })}
                    />
                  )}
                  {findObstacle(member) === undefined && (
                    <IconButton
                      icon={Trash2}
                      label={`Remove ${member.email}`}
                      onClick={() => setAsked({ kind: 'remove', member })}
                    />
                  )}
                </span>
              ),
          ),
        ]}
      />
      <MemberDialogs space={name} asked={asked} onClose={() => setAsked(undefined)} />
    </>
  );
}

interface AskedChange {
  kind: 'remove' | 'end';
  member: Member;
}

function MemberDialogs({
  space,
  asked,
  onClose,
}: {
  space: string;
  asked: AskedChange | undefined;
  onClose: () => void;
}) {
  const toast = useToast();
  const remove = useSpaceMutation('members.remove', { reload: ['members.list', 'me'] });
  const endSessions = useSpaceMutation('members.endSessions');
  const { userId = '', email } = asked?.member ?? {};
  const end = async () => {
    const { ended } = await endSessions.mutateAsync({ userId });
    toast(`${formatCounted(ended, 'session')} of ${email} ended.`);
  };
  return (
    <>
      <ConfirmDialog
        isOpen={asked?.kind === 'remove'}
        onClose={onClose}
        title="Remove member"
        action="Remove"
        onConfirm={() => remove.mutateAsync({ userId })}
      >
        {email} loses access to {space} immediately. API keys created by this member keep working.
      </ConfirmDialog>
      <ConfirmDialog
        isOpen={asked?.kind === 'end'}
        onClose={onClose}
        title="End all sessions"
        action="End the sessions"
        onConfirm={end}
      >
        {email} is signed out in all browsers, including in other spaces, and must sign in again.
      </ConfirmDialog>
    </>
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
  const { zone } = useSettings();
  if (at !== null) {
    return <Faded>{formatMinute(Date.parse(at), zone)}</Faded>;
  }
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
