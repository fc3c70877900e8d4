import { X } from 'lucide-react';
import { type Condition, isMeasure, labelOf, readConditions } from '../filter/conditions.ts';
import { RangeField } from '../filter/range-field.tsx';
import { type Filter, useFilter } from '../filter/use-filter.ts';
import { describeText, ShownText } from '../text/shown-text.tsx';
import { Button } from '../ui/button.tsx';
import { QueryField } from './query-field.tsx';

/** The search field, the time range, and a chip for each condition. */
export function FilterBar() {
  const filter = useFilter();
  return (
    <search className="flex flex-wrap items-start gap-2">
      <QueryField filter={filter} />
      <RangeField search={filter.search} onChange={filter.set} />
      <Chips filter={filter} />
    </search>
  );
}

function Chips({ filter }: { filter: Filter }) {
  const { search, remove, set, clear } = filter;
  const conditions = readConditions(search);
  const limits = [
    { name: 'text', label: `contains “${search.text}”` },
    { name: 'minDurationMs', label: `duration ≥ ${search.minDurationMs} ms` },
    { name: 'maxDurationMs', label: `duration ≤ ${search.maxDurationMs} ms` },
  ].filter(({ name }) => search[name] !== undefined && search[name] !== '');
  if (conditions.length + limits.length === 0) return null;
  return (
    <ul aria-label="Filters" className="flex w-full flex-wrap items-center gap-1.5">
      {conditions.map((condition) => (
        <Chip
          key={JSON.stringify(condition)}
          label={<ConditionLabel {...condition} />}
          name={[labelOf(condition.field), relationOf(condition), condition.value].filter(Boolean).join(' ')}
          onRemove={() => remove(condition)}
        />
      ))}
      {limits.map(({ name, label }) => (
        <Chip
          key={name}
          label={<ShownText text={label} />}
          name={label}
          onRemove={() => set({ [name]: undefined })}
        />
      ))}
      <li>
        <Button look="quiet" size="small" onClick={clear} text="Clear" />
      </li>
    </ul>
  );
}

/** A comparison has its own relation. */
function relationOf({ field, isExcluded }: Condition): string {
  if (isMeasure(field)) return '';
  return isExcluded ? 'is not' : 'is';
}

function ConditionLabel(condition: Condition) {
  const { field, value, isExcluded } = condition;
  return (
    <>
      <ShownText text={labelOf(field)} className="text-muted" />{' '}
      <span className={isExcluded ? 'font-semibold text-bad' : 'text-faint'}>{relationOf(condition)}</span>{' '}
      <ShownText text={value} className="font-medium" />
    </>
  );
}

function Chip({ label, name, onRemove }: { label: React.ReactNode; name: string; onRemove: () => void }) {
  return (
    <li className="flex h-7 max-w-full items-center rounded-md border border-line bg-surface pl-2.5 text-sm">
      <span className="truncate">{label}</span>
      <button
        type="button"
        aria-label={`Remove: ${describeText(name)}`}
        onClick={onRemove}
        className="grid size-6.5 place-items-center rounded-md text-faint hover:text-ink"
      >
        <X aria-hidden className="size-3.5" />
      </button>
    </li>
  );
}
