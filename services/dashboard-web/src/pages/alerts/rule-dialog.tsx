import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { apiQuery, useApiMutation } from '../../api/query.ts';
import { useSpace } from '../../space/space.ts';
import { Button } from '../../ui/button.tsx';
import { FormFailure } from '../../ui/confirm-dialog.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import {
  type Condition,
  eventWindowMax,
  formatMinutes,
  type Kind,
  kinds,
  type Rule,
  windows,
} from './alert-text.ts';
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

type Scope = 'all' | 'name' | 'source' | 'agentId' | 'attributeValue';
const scopes: { value: Scope; label: string }[] = [
  { value: 'all', label: 'All events' },
  { value: 'name', label: 'A model or tool' },
  { value: 'agentId', label: 'An agent' },
  { value: 'source', label: 'A source' },
  { value: 'attributeValue', label: 'An additional property' },
];

/** The texts of the form. */
interface Draft {
  name: string;
  kind: Kind;
  comparison: 'above' | 'below';
  bound: string;
  windowMinutes: string;
  holdMinutes: string;
  scope: Scope;
  scopeValue: string;
  attributeKey: string;
}

function draftOf(rule: Rule | undefined): Draft {
  const { filter = {} } = rule ?? {};
  const scope = scopes.find(({ value }) => value !== 'all' && filter[value] !== undefined)?.value ?? 'all';
  return {
    name: rule?.name ?? '',
    kind: rule?.kind ?? 'error_rate',
    comparison: rule?.comparison ?? 'above',
    bound: rule === undefined ? kinds.error_rate.bound : String(rule.bound),
    windowMinutes: String(rule?.windowMinutes ?? 15),
    holdMinutes: String(rule?.holdMinutes ?? 5),
    scope,
    scopeValue: scope === 'all' ? '' : (filter[scope] ?? ''),
    attributeKey: filter.attributeKey ?? '',
  };
}

/** @returns undefined while a number is missing or invalid. */
function conditionOf(draft: Draft): Condition | undefined {
  const { kind, comparison, scope, scopeValue, attributeKey } = draft;
  const [bound, holdMinutes] = [Number(draft.bound), Number(draft.holdMinutes)];
  const windowMinutes = windows.find((one) => String(one) === draft.windowMinutes);
  const isValid =
    draft.bound.trim() !== '' &&
    bound >= 0 &&
    Number.isInteger(holdMinutes) &&
    holdMinutes >= 0 &&
    holdMinutes <= 1_440;
  if (!isValid || windowMinutes === undefined || (scope !== 'all' && scopeValue === '')) return undefined;
  const isByProperty = scope === 'attributeValue';
  if (isByProperty && (attributeKey === '' || windowMinutes > eventWindowMax)) return undefined;
  const filter =
    scope === 'all' || !kinds[kind].isWindow
      ? {}
      : { [scope]: scopeValue, ...(isByProperty && { attributeKey }) };
  return { kind, comparison, bound, windowMinutes, holdMinutes, filter };
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
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          look="primary"
          type="submit"
          disabled={isPending || condition === undefined || draft.name.trim() === ''}
        >
          Save
        </Button>
      </div>
    </form>
  );
}

function ConditionFields({ draft, onChange }: { draft: Draft; onChange: (change: Partial<Draft>) => void }) {
  const { kind, scope } = draft;
  const { unit, isWindow } = kinds[kind];
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-3">
        <SelectField
          label="What"
          options={Object.entries(kinds).map(([value, { label }]) => ({ value: value as Kind, label }))}
          value={kind}
          onChange={(next) =>
            onChange({
              kind: next,
              bound: kinds[next].bound,
              comparison: 'above',
              ...((next === 'silence' || !kinds[next].isWindow) && { holdMinutes: '0' }),
            })
          }
        />
        {unit !== undefined && (
          <>
            <SelectField
              label="Is"
              options={[
                { value: 'above', label: kind === 'quota' ? 'at or above' : 'above' },
                ...(isWindow ? [{ value: 'below' as const, label: 'below' }] : []),
              ]}
              value={draft.comparison}
              onChange={(comparison) => onChange({ comparison })}
            />
            <TextField
              label={`Bound (${unit})`}
              inputMode="decimal"
              required
              value={draft.bound}
              onChange={(event) => onChange({ bound: event.target.value })}
              autoComplete="off"
            />
          </>
        )}
      </div>
      <div className="grid gap-3 sm:grid-cols-2">
        {isWindow && (
          <SelectField
            label={kind === 'silence' ? 'For' : 'Measured over'}
            options={windows
              .filter((one) => scope !== 'attributeValue' || one <= eventWindowMax)
              .map((one) => ({ value: String(one), label: formatMinutes(one) }))}
            value={draft.windowMinutes}
            onChange={(windowMinutes) => onChange({ windowMinutes })}
          />
        )}
        <TextField
          label="Fires after (minutes)"
          hint="It must hold for so long, and be over for so long before it resolves."
          inputMode="numeric"
          required
          value={draft.holdMinutes}
          onChange={(event) => onChange({ holdMinutes: event.target.value })}
          autoComplete="off"
        />
      </div>
      {isWindow && (
        <div className={`grid gap-3 ${scope === 'attributeValue' ? 'sm:grid-cols-3' : 'sm:grid-cols-2'}`}>
          <SelectField
            label="Of"
            options={scopes.filter(({ value }) => kind !== 'cost' || value !== 'agentId')}
            value={scope}
            onChange={(next) =>
              onChange({
                scope: next,
                scopeValue: '',
                ...(next === 'attributeValue' &&
                  Number(draft.windowMinutes) > eventWindowMax && { windowMinutes: String(eventWindowMax) }),
              })
            }
          />
          {scope === 'attributeValue' && (
            <TextField
              label="Its name"
              required
              maxLength={256}
              value={draft.attributeKey}
              onChange={(event) => onChange({ attributeKey: event.target.value })}
              autoComplete="off"
            />
          )}
          {scope !== 'all' && (
            <TextField
              label={
                scope === 'attributeValue'
                  ? 'Its value'
                  : (scopes.find(({ value }) => value === scope)?.label ?? '')
              }
              required
              maxLength={256}
              value={draft.scopeValue}
              onChange={(event) => onChange({ scopeValue: event.target.value })}
              autoComplete="off"
            />
          )}
        </div>
      )}
    </>
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
