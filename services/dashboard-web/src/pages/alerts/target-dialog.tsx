import { type FormEvent, useState } from 'react';
import type { Output } from '../../api/paths.ts';
import { useApiMutation } from '../../api/query.ts';
import { useSpace } from '../../space/space.ts';
import { FormFailure } from '../../ui/confirm-dialog.tsx';
import { ShownOnce } from '../../ui/copy-button.tsx';
import { Dialog, FormActions } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';

type Kind = Output<'alerts.targets'>['targets'][number]['kind'];

const kinds: { value: Kind; label: string; address: string; example: string }[] = [
  { value: 'webhook', label: 'Signed webhook', address: 'URL', example: 'https://example.com/weir' },
  { value: 'slack', label: 'Slack', address: 'Webhook URL', example: 'https://hooks.slack.com/services/…' },
  { value: 'email', label: 'E-mail', address: 'E-mail address', example: 'on-call@example.com' },
];

/** Adds a target. The secret of a webhook is shown once. */
export function TargetDialog({
  isOpen,
  onClose,
  hasMail,
}: {
  isOpen: boolean;
  onClose: () => void;
  hasMail: boolean;
}) {
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title="Add a target">
      {isOpen && <TargetForm onClose={onClose} hasMail={hasMail} />}
    </Dialog>
  );
}

function TargetForm({ onClose, hasMail }: { onClose: () => void; hasMail: boolean }) {
  const { id: spaceId } = useSpace();
  const [kind, setKind] = useState<Kind>('webhook');
  const [name, setName] = useState('');
  const [address, setAddress] = useState('');
  const { mutateAsync, data, error, isPending } = useApiMutation('alerts.createTarget', {
    reload: ['alerts.targets'],
  });
  const shown = kinds.find(({ value }) => value === kind);
  const isUnavailable = kind === 'email' && !hasMail;
  const onSubmit = async (event: FormEvent) => {
    event.preventDefault();
    await mutateAsync({ spaceId, kind, name, address: address.trim() }).then(
      ({ secret }) => secret === null && onClose(),
      () => {},
    );
  };
  if (data?.secret != null)
    return (
      <ShownOnce
        note="Messages are signed with this secret, so that the receiver can verify them. It is not shown again."
        text={data.secret}
        copyLabel="Copy the secret"
        onClose={onClose}
      />
    );
  return (
    <form onSubmit={(event) => void onSubmit(event)} className="flex flex-col gap-4">
      <SelectField label="Kind" options={kinds} value={kind} onChange={setKind} />
      {isUnavailable && (
        <p className="text-muted text-sm">
          Weir cannot send e-mail yet. The operator sets <code>SMTP_URL</code> and <code>SMTP_FROM</code> for
          the dashboard API.
        </p>
      )}
      <TextField
        label="Name"
        required
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.target.value)}
        autoComplete="off"
      />
      <TextField
        label={shown?.address ?? ''}
        required
        type={kind === 'email' ? 'email' : 'url'}
        placeholder={shown?.example}
        value={address}
        onChange={(event) => setAddress(event.target.value)}
        autoComplete="off"
      />
      <FormFailure error={error} />
      <FormActions action="Add" onCancel={onClose} isDisabled={isPending || isUnavailable} />
    </form>
  );
}
