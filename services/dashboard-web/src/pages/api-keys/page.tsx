import { KeyRound, Plus } from 'lucide-react';
import { useState } from 'react';
import { dayMs } from '../../format/time.ts';
import { useSpaceMutation, useSpaceQuery } from '../../space/use-space-query.ts';
import { DialogButton, Form } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { Notice } from '../../ui/loaded.tsx';
import { Page, QueryCard } from '../../ui/page.tsx';
import { NewKey } from './key-dialogs.tsx';
import { KeyTable } from './key-table.tsx';

export function ApiKeysPage() {
  const query = useSpaceQuery('apiKeys.list', {});
  return (
    <Page
      title="API keys"
      subtitle="A key either sends events to this space or reads it. Changes take effect within a second."
      actions={
        query.data !== undefined && (
          <DialogButton icon={Plus} look="primary" text="Create key" title="Create an API key">
            {(close) => <CreateKeyForm onClose={close} />}
          </DialogButton>
        )
      }
    >
      <QueryCard isFlush query={query}>
        {(data) =>
          data.length === 0 ? (
            <Notice icon={KeyRound} title="No API key yet" isSmall>
              Create a key to send events, or a key to read them.
            </Notice>
          ) : (
            <KeyTable keys={data} />
          )
        }
      </QueryCard>
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
  { value: 'annotation', label: 'Add notes' },
] as const;

const scopeHints: Partial<Record<(typeof scopes)[number]['value'], string>> = {
  ingest: 'The key cannot read anything.',
  annotation:
    'Programs add notes and labels with it, such as the thumbs-down of a user, and can do nothing else.',
};

function CreateKeyForm({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [scope, setScope] = useState<(typeof scopes)[number]['value']>('ingest');
  const [lifetime, setLifetime] = useState<(typeof lifetimes)[number]['value']>('never');
  const { mutateAsync, data } = useSpaceMutation('apiKeys.create', { reload: ['apiKeys.list'] });
  if (data !== undefined) return <NewKey apiKey={data.apiKey} onDone={onClose} />;
  const create = () => {
    const expiry =
      lifetime === 'never'
        ? {}
        : { expiresAt: new Date(Date.now() + Number(lifetime) * dayMs).toISOString() };
    return mutateAsync({ name, scope, ...expiry });
  };
  return (
    <Form action="Create" onSubmit={create} onCancel={onClose}>
      <TextField
        label="Name"
        hint="What uses the key, such as “support agent, production”."
        required
        value={name}
        onText={setName}
      />
      <SelectField
        label="Access"
        hint={scopeHints[scope] ?? 'Programs read this space with it, and cannot change anything.'}
        options={scopes}
        value={scope}
        onChange={setScope}
      />
      <SelectField label="Expires" options={lifetimes} value={lifetime} onChange={setLifetime} />
    </Form>
  );
}
