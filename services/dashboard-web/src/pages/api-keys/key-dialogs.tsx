import { RefreshCw, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { formatMinute } from '../../format/time.ts';
import { useSpaceMutation } from '../../space/use-space-query.ts';
import { ShownText } from '../../text/shown-text.tsx';
import { IconButton } from '../../ui/button.tsx';
import { ShownOnce } from '../../ui/copy-button.tsx';
import { Confirmed, Dialog, Form } from '../../ui/dialog.tsx';
import { SelectField } from '../../ui/field.tsx';
import { type ApiKey, nameKey, nameLastUse } from './api-key.ts';

/** The last characters are typed, which tell the key from others of its name. */
export function RevokeButton({ apiKey, keys }: { apiKey: ApiKey; keys: readonly ApiKey[] }) {
  const { mutateAsync } = useSpaceMutation('apiKeys.revoke', { reload: ['apiKeys.list'] });
  return (
    <Confirmed
      button={(ask) => <IconButton icon={Trash2} label={`Revoke ${nameKey(apiKey)}`} onClick={ask} />}
      title="Revoke API key"
      action="Revoke"
      typed={apiKey.lastFour}
      onConfirm={() => mutateAsync({ keyId: apiKey.id })}
    >
      <KeyFacts apiKey={apiKey} keys={keys} />
      Clients that use this key get 401 within a second. This cannot be undone. Events that were sent are
      kept.
    </Confirmed>
  );
}

function KeyFacts({ apiKey, keys }: { apiKey: ApiKey; keys: readonly ApiKey[] }) {
  const lastFourOf = (id: string | null) => keys.find((key) => key.id === id)?.lastFour ?? '';
  const { name, prefix, lastFour, createdAt, createdBy, replaces, replacedBy } = apiKey;
  return (
    <div className="mb-3">
      <div className="font-medium text-ink">
        <ShownText text={name} />{' '}
        <code className="font-mono text-xs">
          {prefix}…{lastFour}
        </code>
      </div>
      <div>
        Created {formatMinute(Date.parse(createdAt))} by {createdBy ?? 'the operator'}. Last used:{' '}
        {nameLastUse(apiKey)}.
      </div>
      {replacedBy !== null && (
        <div>This is the old key: it was rolled, and …{lastFourOf(replacedBy)} takes its place.</div>
      )}
      {replaces !== null && <div>This is the new key, which takes the place of …{lastFourOf(replaces)}.</div>}
    </div>
  );
}

const overlaps = [
  { value: '0', label: 'Immediately' },
  { value: '1', label: 'After an hour' },
  { value: '24', label: 'After a day' },
  { value: '168', label: 'After a week' },
] as const;

/** Creates a replacement key. Both work until the old key ends. The button goes at once, the dialog stays. */
export function RollButton({ apiKey }: { apiKey: ApiKey }) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  const title = `Roll ${nameKey(apiKey)}`;
  return (
    <>
      {apiKey.state === 'active' && apiKey.replacedBy === null && (
        <IconButton icon={RefreshCw} label={title} onClick={() => setOpen(true)} />
      )}
      <Dialog
        isOpen={isOpen}
        onClose={close}
        title={title}
        description="A new key takes its place. Both work until the old one ends, so that nothing is refused meanwhile."
      >
        <RollKeyForm apiKey={apiKey} onClose={close} />
      </Dialog>
    </>
  );
}

function RollKeyForm({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const [overlap, setOverlap] = useState<(typeof overlaps)[number]['value']>('24');
  const { mutateAsync, data } = useSpaceMutation('apiKeys.roll', { reload: ['apiKeys.list'] });
  if (data !== undefined) return <NewKey apiKey={data.apiKey} onDone={onClose} />;
  const roll = () => mutateAsync({ keyId: apiKey.id, overlapHours: Number(overlap) });
  return (
    <Form action="Roll the key" onSubmit={roll} onCancel={onClose}>
      <SelectField label="The old key ends" options={overlaps} value={overlap} onChange={setOverlap} />
    </Form>
  );
}

/** A newly created key. It is shown only here, and masked once copied. */
export function NewKey({ apiKey, onDone }: { apiKey: string; onDone: () => void }) {
  return (
    <ShownOnce
      note="Copy the key now. Weir stores only a hash and cannot show it again."
      text={apiKey}
      masked={`${apiKey.slice(0, 9)}${'•'.repeat(24)}${apiKey.slice(-4)}`}
      copyLabel="Copy the key"
      onClose={onDone}
    />
  );
}
