import { useState } from 'react';
import { formatMinute, fromLocalTime, nameZone } from '../format/time.ts';
import { Dialog, Form } from '../ui/dialog.tsx';
import { SelectField, TextField } from '../ui/field.tsx';
import type { Search } from '../url/search.ts';
import {
  isNamedRange,
  localText,
  namedRanges,
  type RecentRange,
  rangeOf,
  type TimeRange,
} from './time-range.ts';

const anyTime = 'any';
const ownRange = 'own';
const newRange = 'custom';

interface RangeFieldProps {
  search: Search;
  fallback?: RecentRange;
  onChange: (change: Record<string, string | undefined>) => void;
}

/** Selects a range that ends now, a day, or a custom one; without a `fallback` also any time. */
export function RangeField({ search, fallback, onChange }: RangeFieldProps) {
  const [isChoosing, setChoosing] = useState(false);
  const hasOwn = search.last === undefined && (search.from !== undefined || search.to !== undefined);
  const { from, to } = rangeOf(search, Date.now());
  const nameEnd = (ms: number | undefined) => (ms === undefined ? '' : formatMinute(ms));
  const options = [
    ...(fallback === undefined ? [{ value: anyTime, label: 'Any time' }] : []),
    ...(hasOwn ? [{ value: ownRange, label: `${nameEnd(from)} – ${nameEnd(to)}` }] : []),
    ...namedRanges,
    { value: newRange, label: 'Custom …' },
  ];
  const value = hasOwn ? ownRange : isNamedRange(search.last) ? search.last : (fallback ?? anyTime);
  const onChoose = (chosen: string) => {
    if (chosen === newRange) setChoosing(true);
    else if (chosen !== ownRange)
      onChange({ last: isNamedRange(chosen) ? chosen : undefined, from: undefined, to: undefined });
  };
  return (
    <>
      <SelectField
        label="Time range"
        isLabelHidden
        options={options}
        value={value}
        onChange={onChoose}
        className={hasOwn ? 'w-56' : 'w-36'}
      />
      <CustomRangeDialog
        isOpen={isChoosing}
        initial={rangeOf(hasOwn ? search : { last: fallback ?? '24h' }, Date.now())}
        onClose={() => setChoosing(false)}
        onChoose={(range) => onChange({ last: undefined, ...range })}
      />
    </>
  );
}

interface RangeChoice {
  initial: TimeRange;
  onClose: () => void;
  onChoose: (range: { from: string; to: string }) => void;
}

/** Chooses the ends of a range, in the viewer's time zone. */
function CustomRangeDialog({ isOpen, ...choice }: RangeChoice & { isOpen: boolean }) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={choice.onClose}
      title="Custom range"
      description={`Start times of events, in ${nameZone()}. The end is not included.`}
    >
      <RangeForm {...choice} />
    </Dialog>
  );
}

function RangeForm({ initial, onClose, onChoose }: RangeChoice) {
  const [start, setStart] = useState(() => localText(initial.from ?? Date.now()));
  const [end, setEnd] = useState(() => localText(initial.to ?? Date.now()));
  const [from, to] = [start, end].map((text) => fromLocalTime(Date.parse(`${text}Z`)));
  const isRange = from !== undefined && to !== undefined && from < to;
  const problem = isRange || start === '' || end === '' ? undefined : 'The end must be after the start.';
  const onSubmit = () => {
    onClose();
    onChoose({ from: String(from), to: String(to) });
  };
  return (
    <Form action="Show" onSubmit={onSubmit} onCancel={onClose} isDisabled={!isRange}>
      <TextField label="From" type="datetime-local" required value={start} onText={setStart} />
      <TextField label="To" type="datetime-local" required value={end} problem={problem} onText={setEnd} />
    </Form>
  );
}
