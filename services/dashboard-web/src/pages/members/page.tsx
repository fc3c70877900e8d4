import { UserPlus } from 'lucide-react';
import { useState } from 'react';
import type { Output } from '../../api/query.ts';
import { formatMinute } from '../../format/time.ts';
import { hasRole, type Role, roles, roleTexts, useSpace } from '../../space/space.tsx';
import { useSpaceMutation, useSpaceQuery } from '../../space/use-space-query.ts';
import { actionsColumn, TableCard, Time } from '../../table/table.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ShownOnce } from '../../ui/copy-button.tsx';
import { DialogButton, Form } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { FailureNotice } from '../../ui/loaded.tsx';
import { Page, QueryCard } from '../../ui/page.tsx';
import { useAttempt } from '../../ui/toasts.tsx';
import { basePath } from '../../url/page-values.ts';
import { MemberTable } from './member-table.tsx';

export function MembersPage() {
  const { role, name } = useSpace();
  const query = useSpaceQuery('members.list', {});
  const canManage = hasRole(role, 'admin');
  return (
    <Page
      title="Members"
      subtitle={name}
      actions={
        canManage && (
          <DialogButton
            icon={UserPlus}
            look="primary"
            text="Invite"
            title="Invite a member"
            description="Weir creates a link, which you send to the new member."
          >
            {(close) => <InviteForm onClose={close} />}
          </DialogButton>
        )
      }
    >
      <div className="flex flex-col gap-4">
        <QueryCard isFlush query={query}>
          {(data) => <MemberTable members={data} />}
        </QueryCard>
        {canManage && <InvitationList />}
      </div>
    </Page>
  );
}

/** Renders nothing when there are none. */
function InvitationList() {
  const attempt = useAttempt();
  const { data, error } = useSpaceQuery('invitations.list', {});
  const { mutateAsync } = useSpaceMutation('invitations.revoke', { reload: ['invitations.list'] });
  if (error !== null) return <FailureNotice error={error} isSmall />;
  if (data === undefined || data.length === 0) return null;
  return (
    <TableCard
      caption="Open invitations"
      rows={data}
      keyOf={({ id }) => id}
      columns={[
        { title: 'E-mail address', cell: ({ email }) => email },
        { title: 'Role', cell: ({ role }) => <Badge>{role}</Badge> },
        {
          title: 'Valid until',
          cell: ({ expiresAt }) => <Time at={expiresAt} format={formatMinute} />,
        },
        actionsColumn(({ id, email }: Output<'invitations.list'>[number]) => (
          <Button
            look="danger"
            size="small"
            aria-label={`Revoke the invitation of ${email}`}
            onClick={() => attempt(mutateAsync({ id }))}
            text="Revoke"
          />
        )),
      ]}
    />
  );
}

/** Weir sends no mail: the inviting user sends the link, which is shown once. */
function InviteForm({ onClose }: { onClose: () => void }) {
  const { role: own } = useSpace();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('viewer');
  const { mutateAsync, data } = useSpaceMutation('invitations.create', { reload: ['invitations.list'] });
  if (data !== undefined) {
    const link = `${window.location.origin}${basePath}/invitation#${data.token}`;
    return (
      <ShownOnce
        note={`Send this link to ${email}. It works once and is not shown again.`}
        text={link}
        copyLabel="Copy the link"
        onClose={onClose}
      />
    );
  }
  return (
    <Form action="Create the link" onSubmit={() => mutateAsync({ email, role })} onCancel={onClose}>
      <TextField label="E-mail address" type="email" required value={email} onText={setEmail} />
      <SelectField
        label="Role"
        hint={roleTexts[role]}
        options={roles.filter((one) => hasRole(own, one)).map((one) => ({ value: one, label: one }))}
        value={role}
        onChange={setRole}
      />
    </Form>
  );
}
