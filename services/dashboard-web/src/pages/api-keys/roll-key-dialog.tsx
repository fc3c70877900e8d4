import { type FormEvent, useState } from 'react';
import { useApiMutation } from '../../api/query.ts';
import { useSpace } from '../../space/space.ts';
import { FormFailure } from '../../ui/confirm-dialog.tsx';
import { Dialog, FormActions } from '../../ui/dialog.tsx';
import { SelectField } from '../../ui/field.tsx';
import type { ApiKey } from './api-key.ts';
import { NewKey } from './new-key.tsx';

const overlaps = [
  { value: '0', label: 'Immediately' },
  { value: '1', label: 'After an hour' },
  { value: '24', label: 'After a day' },
  { value: '168', label: 'After a week' },
] as const;

/** Creates a replacement key. Both work until the old key ends. */
export function RollKeyDialog({ apiKey, onClose }: { apiKey: ApiKey | undefined; onClose: () => void }) {
  return (
    <Dialog
      isOpen={apiKey !== undefined}
      onClose={onClose}
      title={`Roll ${apiKey?.name ?? ''}`}
      description="A new key takes its place. Both work until the old one ends, so that nothing is refused meanwhile."
    >
      {apiKey !== undefined && <RollKeyForm apiKey={apiKey} onClose={onClose} />}
    </Dialog>
  );
}

function RollKeyForm({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const { id: spaceId } = useSpace();
  const [overlap, setOverlap] = useState<(typeof overlaps)[number]['value']>('24');
  const { mutateAsync, data, error, isPending } = useApiMutation('apiKeys.roll', {
    reload: ['apiKeys.list'],
  });
  if (data !== undefined) return <NewKey apiKey={data.apiKey} onDone={onClose} />;
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    void mutateAsync({ spaceId, keyId: apiKey.id, overlapHours: Number(overlap) }).catch(() => {});
  };
  return (
    <form onSubmit={onSubmit} className="flex flex-col gap-4">
      <SelectField label="The old key ends" options={overlaps} value={overlap} onChange={setOverlap} />
      <FormFailure error={error} />
      <FormActions action="Roll the key" onCancel={onClose} isDisabled={isPending} />
    </form>
  );
}
