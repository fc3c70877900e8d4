import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { describeFailure } from '../../api/failure.ts';
import type { Output } from '../../api/paths.ts';
import { useApiMutation } from '../../api/query.ts';
import { formatMinute } from '../../format/time.ts';
import { useSettings } from '../../settings/settings.ts';
import { useMe } from '../../space/me.ts';
import { hasRole, type Role, roles, roleTexts } from '../../space/role.ts';
import { useSpace } from '../../space/space.ts';
import { Badge } from '../../ui/badge.tsx';
import { IconButton } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { SelectField } from '../../ui/field.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { useToast } from '../../ui/toasts.tsx';

type Member = Output<'members.list'>[number];

/** The members and their roles. Admins can change roles and remove members. */
export function MemberTable({ members }: { members: readonly Member[] }) {
  const { role, name } = useSpace();
  const { user } = useMe();
  const [removed, setRemoved] = useState<Member>();
  const remove = useApiMutation('members.remove', { reload: ['members.list', 'me'] });
  const { id: spaceId } = useSpace();
  const canManage = hasRole(role, 'admin');
  const owners = members.filter((member) => member.role === 'owner').length;
  /** Why a member cannot be changed; undefined when this role may change it. */
  const findObstacle = (member: Member) => {
    if (member.role !== 'owner') return undefined;
    if (!hasRole(role, 'owner')) return 'Only an owner can change an owner.';
    return owners === 1 ? 'A space needs an owner. Make another member an owner first.' : undefined;
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
          {
            title: 'Actions',
            isPinned: true,
            isNumber: true,
            cell: (member) =>
              canManage &&
              findObstacle(member) === undefined && (
                <IconButton label={`Remove ${member.email}`} onClick={() => setRemoved(member)}>
                  <Trash2 aria-hidden />
                </IconButton>
              ),
          },
        ]}
      />
      <ConfirmDialog
        isOpen={removed !== undefined}
        onClose={() => setRemoved(undefined)}
        title="Remove member"
        action="Remove"
        onConfirm={() => remove.mutateAsync({ spaceId, userId: removed?.userId ?? '' })}
      >
        {removed?.email} loses access to {name} immediately. API keys created by this member keep working.
      </ConfirmDialog>
    </>
  );
}

/** The address, role and permissions of a member. */
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

/** When the e-mail address was verified. An unverified account belongs to whoever had the link of the invitation. */
function VerifiedTime({ at }: { at: string | null }) {
  const { zone } = useSettings();
  if (at !== null) {
    return <span className="whitespace-nowrap text-muted">{formatMinute(Date.parse(at), zone)}</span>;
  }
  return (
    <span title="The member accepted an invitation. Neither the operator nor single sign-on has verified who holds the address.">
      <Badge tone="warn">not verified</Badge>
    </span>
  );
}

function RoleField({ member }: { member: Member }) {
  const { id: spaceId, role: own } = useSpace();
  const toast = useToast();
  const { mutateAsync } = useApiMutation('members.setRole', { reload: ['members.list', 'me'] });
  // Only owners may assign or remove the role owner.
  const options = roles.filter((role) => hasRole(own, role) || role === member.role);
  const onChange = async (role: Role) => {
    try {
      await mutateAsync({ spaceId, userId: member.userId, role });
      toast(`${member.email} is ${role} now.`);
    } catch (error) {
      toast(describeFailure(error).message);
    }
  };
  return (
    <SelectField
      label={`Role of ${member.email}`}
      isLabelHidden
      className="w-28"
      options={options.map((role) => ({ value: role, label: role }))}
      value={member.role}
      onChange={(role) => void onChange(role)}
    />
  );
}
