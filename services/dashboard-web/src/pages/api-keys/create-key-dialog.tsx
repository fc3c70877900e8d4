import { type FormEvent, useState } from 'react';
import { useApiMutation } from '../../api/query.ts';
import { dayMs } from '../../format/time.ts';
import { useSpace } from '../../space/space.ts';
import { FormFailure } from '../../ui/confirm-dialog.tsx';
import { Dialog, FormActions } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { NewKey } from './new-key.tsx';

const lifetimes = [
  { value: 'never', label: 'Never' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
] as const;

const scopes = [
  { value: 'ingest', label: 'Send events' },
  { value: 'events', label: 'Read: events, charts and costs' },
  { value: 'statistics', label: 'Read: only charts, costs and usage' },
  { value: 'administration', label: 'Read: also members, keys and the audit log' },
] as const;

export function CreateKeyDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title="Create an API key">
      {isOpen && <CreateKeyForm onClose={onClose} />}
    </Dialog>
  );
}

function CreateKeyForm({ onClose }: { onClose: () => void }) {
  const { id: spaceId } = useSpace();
  const [name, setName] = useState('');
  const [scope, setScope] = useState<(typeof scopes)[number]['value']>('ingest');
  const [lifetime, setLifetime] = useState<(typeof lifetimes)[number]['value']>('never');
  const { mutateAsync, data, error, isPending } = useApiMutation('apiKeys.create', {
    reload: ['apiKeys.list'],
  });
  if (data !== undefined) return <NewKey apiKey={data.apiKey} onDone={onClose} />;
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    const expiry =
      lifetime === 'never'
        ? {}
        : { expiresAt: new Date(Date.now() + Number(lifetime) * dayMs).toISOString() };
    void mutateAsync({ spaceId, name, scope, ...expiry }).catch(() => {});
  };
  return (
    <form onSubmit={onSubmit} className="flex flex-col gap-4">
      <TextField
        label="Name"
        hint="What uses the key, such as “support agent, production”."
        required
        value={name}
        onChange={(event) => setName(event.target.value)}
        autoComplete="off"
      />
      <SelectField
        label="Access"
        hint={
          scope === 'ingest'
            ? 'The key cannot read anything.'
            : 'Programs read this space with it, and cannot change anything.'
        }
        options={scopes}
        value={scope}
        onChange={setScope}
      />
      <SelectField label="Expires" options={lifetimes} value={lifetime} onChange={setLifetime} />
      <FormFailure error={error} />
      <FormActions action="Create" onCancel={onClose} isDisabled={isPending} />
    </form>
  );
}
