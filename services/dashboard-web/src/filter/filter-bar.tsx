import { Search as SearchIcon, X } from 'lucide-react';
import { type FormEvent, useRef } from 'react';
import { useShortcuts } from '../settings/shortcuts.ts';
import { describeText } from '../text/marks.ts';
import { ShownText } from '../text/shown-text.tsx';
import { Button } from '../ui/button.tsx';
import { readConditions, withCondition } from './conditions.ts';
import { type Condition, labelOf } from './fields.ts';
import { parseQueryText } from './query-text.ts';
import { RangeField } from './range-field.tsx';
import { type Filter, useFilter } from './use-filter.ts';

/** The search field, the time range, and a chip for each condition. */
export function FilterBar() {
  const filter = useFilter();
  return (
    <search className="flex flex-wrap items-center gap-2">
      <QueryField filter={filter} />
      <RangeField search={filter.search} onChange={filter.set} />
      <Chips filter={filter} />
    </search>
  );
}

function QueryField({ filter: { search, set } }: { filter: Filter }) {
  const field = useRef<HTMLInputElement>(null);
  useShortcuts({ '/': () => field.current?.focus() });
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    const typed = parseQueryText(field.current?.value ?? '');
    const next = typed.conditions.reduce(withCondition, search);
    set({
      ...Object.fromEntries(Object.keys(search).map((name) => [name, undefined])),
      ...next,
      text: typed.text,
    });
    if (field.current !== null) field.current.value = typed.text;
  };
  return (
    <form onSubmit={onSubmit} className="relative min-w-56 flex-1">
      <SearchIcon aria-hidden className="pointer-events-none absolute top-2 left-2.5 size-4 text-faint" />
      <input
        ref={field}
        // A new address resets the text.
        key={search.text ?? ''}
        defaultValue={search.text ?? ''}
        aria-label="Search in previews, or filter by field:value"
        placeholder="Search, or user:mia -model:gpt-4o attr.plan:pro"
        spellCheck={false}
        autoComplete="off"
        enterKeyHint="search"
        onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
        className="h-8 w-full rounded-md border border-edge bg-surface pr-9 pl-8 text-sm placeholder:text-faint focus-visible:border-accent focus-visible:outline-offset-0"
      />
      <kbd className="pointer-events-none absolute top-[7px] right-2 max-md:hidden">/</kbd>
    </form>
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
          key={condition.field + condition.isExcluded}
          label={<ConditionLabel {...condition} />}
          name={`${labelOf(condition.field)} ${condition.isExcluded ? 'is not' : 'is'} ${condition.value}`}
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
        <Button look="quiet" size="small" onClick={clear}>
          Clear
        </Button>
      </li>
    </ul>
  );
}

function ConditionLabel({ field, value, isExcluded }: Condition) {
  return (
    <>
      <span className="text-muted">
        <ShownText text={labelOf(field)} />
      </span>{' '}
      <span className={isExcluded ? 'font-semibold text-bad' : 'text-faint'}>
        {isExcluded ? 'is not' : 'is'}
      </span>{' '}
      <span className="font-medium">
        <ShownText text={value} />
      </span>
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
