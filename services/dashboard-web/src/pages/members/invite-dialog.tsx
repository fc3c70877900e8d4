import { type FormEvent, useState } from 'react';
import { useApiMutation } from '../../api/query.ts';
import { hasRole, type Role, roles, roleTexts } from '../../space/role.ts';
import { useSpace } from '../../space/space.ts';
import { FormFailure } from '../../ui/confirm-dialog.tsx';
import { ShownOnce } from '../../ui/copy-button.tsx';
import { Dialog, FormActions } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';

/** Creates an invitation. Weir sends no mail: the inviting user sends the link, which is shown once. */
export function InviteDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title="Invite a member"
      description="Weir creates a link, which you send to the new member."
    >
      {isOpen && <InviteForm onClose={onClose} />}
    </Dialog>
  );
}

function InviteForm({ onClose }: { onClose: () => void }) {
  const { id: spaceId, role: own } = useSpace();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('viewer');
  const { mutateAsync, data, error, isPending } = useApiMutation('invitations.create', {
    reload: ['invitations.list'],
  });
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    void mutateAsync({ spaceId, email, role }).catch(() => {});
  };
  if (data !== undefined) {
    const link = `${window.location.origin}/invitation#${data.token}`;
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
    <form onSubmit={onSubmit} className="flex flex-col gap-4">
      <TextField
        label="E-mail address"
        type="email"
        required
        value={email}
        onChange={(event) => setEmail(event.target.value)}
        autoComplete="off"
      />
      <SelectField
        label="Role"
        hint={roleTexts[role]}
        options={roles.filter((one) => hasRole(own, one)).map((one) => ({ value: one, label: one }))}
        value={role}
        onChange={setRole}
      />
      <FormFailure error={error} />
      <FormActions action="Create the link" onCancel={onClose} isDisabled={isPending} />
    </form>
  );
}
