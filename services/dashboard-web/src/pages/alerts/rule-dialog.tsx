import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { apiQuery, useApiMutation } from '../../api/query.ts';
import { useSpace } from '../../space/space.ts';
import { FormFailure } from '../../ui/confirm-dialog.tsx';
import { Dialog, FormActions } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import type { Rule } from './alert-text.ts';
import { ConditionFields } from './condition-fields.tsx';
import { conditionOf, draftOf } from './rule-draft.ts';
import { RulePreview } from './rule-preview.tsx';

/** Creates an alert, or changes one. It shows when it would have fired before it is saved. */
export function RuleDialog({ edited, onClose }: { edited: Rule | 'new' | undefined; onClose: () => void }) {
  return (
    <Dialog
      isOpen={edited !== undefined}
      onClose={onClose}
      title={edited === 'new' ? 'New alert' : 'Change alert'}
      width="wide"
    >
      {edited !== undefined && <RuleForm rule={edited === 'new' ? undefined : edited} onClose={onClose} />}
    </Dialog>
  );
}

function RuleForm({ rule, onClose }: { rule: Rule | undefined; onClose: () => void }) {
  const { id: spaceId } = useSpace();
  const [draft, setDraft] = useState(() => draftOf(rule));
  const [targetIds, setTargetIds] = useState<readonly string[]>(rule?.targetIds ?? []);
  const { mutateAsync, error, isPending } = useApiMutation('alerts.save', { reload: ['alerts.list'] });
  const condition = conditionOf(draft);
  const onSubmit = async (event: FormEvent) => {
    event.preventDefault();
    if (condition === undefined) return;
    const name = draft.name.trim();
    const saved = { spaceId, ...condition, name, targetIds: [...targetIds], ...(rule && { id: rule.id }) };
    await mutateAsync(saved).then(onClose, () => {});
  };
  return (
    <form onSubmit={(event) => void onSubmit(event)} className="flex flex-col gap-4">
      <TextField
        label="Name"
        required
        maxLength={100}
        value={draft.name}
        onChange={(event) => setDraft({ ...draft, name: event.target.value })}
        autoComplete="off"
      />
      <ConditionFields draft={draft} onChange={(change) => setDraft({ ...draft, ...change })} />
      <TargetChoice chosen={targetIds} onChange={setTargetIds} />
      {condition !== undefined && <RulePreview condition={condition} />}
      <FormFailure error={error} />
      <FormActions
        action="Save"
        onCancel={onClose}
        isDisabled={isPending || condition === undefined || draft.name.trim() === ''}
      />
    </form>
  );
}

function TargetChoice({
  chosen,
  onChange,
}: {
  chosen: readonly string[];
  onChange: (ids: readonly string[]) => void;
}) {
  const { id: spaceId } = useSpace();
  const { data } = useQuery(apiQuery('alerts.targets', { spaceId }));
  if (data === undefined) return null;
  return (
    <fieldset>
      <legend className="mb-1 font-medium text-sm">Send to</legend>
      {data.targets.length === 0 && (
        <p className="text-muted text-sm">
          There are no targets yet: the alert is only shown here. Add one under Targets.
        </p>
      )}
      <div className="flex flex-wrap gap-x-4 gap-y-1">
        {data.targets.map(({ id, name }) => (
          <label key={id} className="flex min-h-6 items-center gap-1.5 text-sm">
            <input
              type="checkbox"
              className="size-4 accent-accent"
              checked={chosen.includes(id)}
              onChange={(event) =>
                onChange(event.target.checked ? [...chosen, id] : chosen.filter((one) => one !== id))
              }
            />
            {name}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
