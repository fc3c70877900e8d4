import { SelectField, TextField } from '../../ui/field.tsx';
import { eventWindowMax, formatMinutes, type Kind, kinds, windows } from './alert-text.ts';
import { type Draft, scopes } from './rule-draft.ts';

interface Fields {
  draft: Draft;
  onChange: (change: Partial<Draft>) => void;
}

export function ConditionFields(fields: Fields) {
  return (
    <>
      <MetricFields {...fields} />
      <TimeFields {...fields} />
      {kinds[fields.draft.kind].isWindow && <ScopeFields {...fields} />}
    </>
  );
}

function MetricFields({ draft, onChange }: Fields) {
  const { kind } = draft;
  const { unit, isWindow } = kinds[kind];
  return (
    <div className="grid gap-3 sm:grid-cols-3">
      <SelectField
        label="Metric"
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
            label="Comparison"
            options={[
              { value: 'above', label: kind === 'quota' ? 'at or above' : 'above' },
              ...(isWindow ? [{ value: 'below' as const, label: 'below' }] : []),
            ]}
            value={draft.comparison}
            onChange={(comparison) => onChange({ comparison })}
          />
          <TextField
            label={`Threshold (${unit})`}
            inputMode="decimal"
            required
            value={draft.bound}
            onText={(text) => onChange({ bound: text })}
          />
        </>
      )}
    </div>
  );
}

function TimeFields({ draft, onChange }: Fields) {
  const { kind, scope } = draft;
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      {kinds[kind].isWindow && (
        <SelectField
          label={kind === 'silence' ? 'No events for' : 'Measured over'}
          options={windows
            .filter((one) => scope !== 'attributeValue' || one <= eventWindowMax)
            .map((one) => ({ value: String(one), label: formatMinutes(one) }))}
          value={draft.windowMinutes}
          onChange={(windowMinutes) => onChange({ windowMinutes })}
        />
      )}
      <TextField
        label="Fires after (minutes)"
        hint="How long the condition must hold before the alert fires, and be over before it resolves."
        inputMode="numeric"
        required
        value={draft.holdMinutes}
        onText={(text) => onChange({ holdMinutes: text })}
      />
    </div>
  );
}

function ScopeFields({ draft, onChange }: Fields) {
  const { kind, scope } = draft;
  return (
    <div className={`grid gap-3 ${scope === 'attributeValue' ? 'sm:grid-cols-3' : 'sm:grid-cols-2'}`}>
      <SelectField
        label="Events"
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
          label="Name of the property"
          required
          maxLength={256}
          value={draft.attributeKey}
          onText={(text) => onChange({ attributeKey: text })}
        />
      )}
      {scope !== 'all' && (
        <TextField
          label={
            scope === 'attributeValue'
              ? 'Value of the property'
              : (scopes.find(({ value }) => value === scope)?.label ?? '')
          }
          required
          maxLength={256}
          value={draft.scopeValue}
          onText={(text) => onChange({ scopeValue: text })}
        />
      )}
    </div>
  );
}
