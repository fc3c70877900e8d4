import { useQuery } from '@tanstack/react-query';
import { KeyRound, Plus } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { apiQuery, useApiMutation } from '../../api/query.ts';
import { dayMs } from '../../format/time.ts';
import { useSpace } from '../../space/space.ts';
import { Button } from '../../ui/button.tsx';
import { FormFailure } from '../../ui/confirm-dialog.tsx';
import { Dialog, FormActions } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { FailureNotice, Loading, Notice } from '../../ui/states.tsx';
import { KeyTable } from './key-table.tsx';
import { NewKey } from './new-key.tsx';

/** The API keys of the space, for sending and for reading: create, roll and revoke. */
export function ApiKeysPage() {
  const { id: spaceId } = useSpace();
  const { data, error, refetch } = useQuery(apiQuery('apiKeys.list', { spaceId }));
  const [isCreating, setCreating] = useState(false);
  return (
    <Page
      title="API keys"
      subtitle="A key either sends events to this space or reads it. Changes take effect within a second."
      actions={
        data !== undefined && (
          <Button look="primary" onClick={() => setCreating(true)}>
            <Plus aria-hidden />
            Create key
          </Button>
        )
      }
    >
      <Card isFlush>
        {error !== null ? (
          <FailureNotice error={error} onRetry={() => void refetch()} isSmall />
        ) : data === undefined ? (
          <Loading />
        ) : data.length === 0 ? (
          <Notice icon={KeyRound} title="No API key yet" isSmall>
            Create a key to send events, or a key to read them.
          </Notice>
        ) : (
          <KeyTable keys={data} />
        )}
      </Card>
      <CreateKeyDialog isOpen={isCreating} onClose={() => setCreating(false)} />
    </Page>
  );
}

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

function CreateKeyDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
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
