import { useDeferredValue, useState } from 'react';
import { describeFailure } from '../../api/failure.ts';
import { labelOf } from '../../filter/conditions.ts';
import { formatCounted } from '../../format/number.ts';
import { formatMinute } from '../../format/time.ts';
import { keepsData, useSpaceMutation, useSpaceQuery } from '../../space/use-space-query.ts';
import { ShownText } from '../../text/shown-text.tsx';
import { Dialog, Form } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import type { Search } from '../../url/search.ts';
import { type Condition, formatAlertValue, type Rule } from './alert-text.ts';
import { ConditionFields } from './condition-fields.tsx';
import { conditionOf, draftFrom, draftOf } from './rule-draft.ts';

interface RuleDialogProps {
  edited: Rule | 'new' | undefined;
  filter: Search;
  onClose: () => void;
}

/** Shows when an alert would have fired before it is saved. */
export function RuleDialog({ edited, filter, onClose }: RuleDialogProps) {
  return (
    <Dialog
      isOpen={edited !== undefined}
      onClose={onClose}
      title={edited === 'new' ? 'New alert' : 'Change alert'}
      width="wide"
    >
      {edited !== undefined && (
        <RuleForm rule={edited === 'new' ? undefined : edited} filter={filter} onClose={onClose} />
      )}
    </Dialog>
  );
}

interface RuleFormProps {
  rule: Rule | undefined;
  filter: Search;
  onClose: () => void;
}

function RuleForm({ rule, filter, onClose }: RuleFormProps) {
  const [first] = useState(() =>
    rule === undefined ? draftFrom(filter) : { draft: draftOf(rule), leftOut: [] },
  );
  const [draft, setDraft] = useState(first.draft);
  const [targetIds, setTargetIds] = useState<readonly string[]>(rule?.targetIds ?? []);
  const { mutateAsync } = useSpaceMutation('alerts.save', { reload: ['alerts.list'] });
  const condition = conditionOf(draft);
  const save = async () => {
    if (condition === undefined) return;
    const name = draft.name.trim();
    const saved = { ...condition, name, targetIds: [...targetIds], ...(rule && { id: rule.id }) };
    await mutateAsync(saved);
    onClose();
  };
  return (
    <Form
      action="Save"
      onSubmit={save}
      onCancel={onClose}
      isDisabled={condition === undefined || draft.name.trim() === ''}
    >
      <TextField
        label="Name"
        required
        maxLength={100}
        value={draft.name}
        onText={(text) => setDraft({ ...draft, name: text })}
      />
      <ConditionFields draft={draft} onChange={(change) => setDraft({ ...draft, ...change })} />
      {first.leftOut.length > 0 && (
        <p className="text-muted text-sm">
          An alert has one condition. Of the filter are left out:{' '}
          <ShownText text={[...new Set(first.leftOut.map(({ field }) => labelOf(field)))].join(', ')} />.
        </p>
      )}
      <TargetChoice chosen={targetIds} onChange={setTargetIds} />
      {condition !== undefined && <RulePreview condition={condition} />}
    </Form>
  );
}

interface TargetChoiceProps {
  chosen: readonly string[];
  onChange: (ids: readonly string[]) => void;
}

function TargetChoice({ chosen, onChange }: TargetChoiceProps) {
  const { data } = useSpaceQuery('alerts.targets', {});
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

const listedMax = 5;

/** When the alert would have fired in the last week. */
function RulePreview({ condition }: { condition: Condition }) {
  const deferred = useDeferredValue(condition);
  const { data, error } = useSpaceQuery('alerts.preview', { ...deferred }, keepsData);
  const box = 'rounded-md border border-line bg-sunken px-3 py-2 text-sm';
  if (error !== null) return <p className={`${box} text-bad`}>{describeFailure(error).message}</p>;
  if (data === undefined) return <p className={`${box} text-muted`}>Reading the last week …</p>;
  const { fired, value, sinceMs } = data;
  const now = value === null ? 'No value now.' : `Now: ${formatAlertValue(condition.kind, value)}.`;
  if (sinceMs === null) return <p className={box}>{now} This value has no history.</p>;
  const period = describePeriod(Date.now() - sinceMs);
  return (
    <div className={box} role="status">
      <p>
        {fired.length === 0
          ? `Would not have fired in the last ${period}.`
          : `Would have fired ${formatCounted(fired.length, 'time')} in the last ${period}.`}{' '}
        {now}
      </p>
      {fired.length > 0 && (
        <ul className="mt-1 text-muted text-xs">
          {fired.slice(-listedMax).map(({ fromMs, toMs, value: measured }) => (
            <li key={fromMs}>
              {formatMinute(fromMs)} – {toMs === null ? 'now' : formatMinute(toMs)} (
              {formatAlertValue(condition.kind, measured)})
            </li>
          ))}
          {fired.length > listedMax && <li>and {formatCounted(fired.length - listedMax, 'time')} before</li>}
        </ul>
      )}
    </div>
  );
}

/** An alert by an additional property is evaluated over less than a week if the space has many events. */
function describePeriod(ms: number): string {
  const hours = Math.floor(ms / 3_600_000);
  if (hours >= 7 * 24) return 'week';
  return hours <= 1 ? 'hour' : `${hours} hours`;
}
