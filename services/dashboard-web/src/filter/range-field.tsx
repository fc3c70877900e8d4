import { useState } from 'react';
import { formatMinute } from '../format/time.ts';
import { useSettings } from '../settings/settings.ts';
import { SelectField } from '../ui/field.tsx';
import type { Search } from '../url/search.ts';
import { CustomRangeDialog } from './custom-range-dialog.tsx';
import type { RecentRange } from './recent-range.ts';
import { isNamedRange, namedRanges, rangeOf } from './time-range.ts';

const anyTime = 'any';
const ownRange = 'own';
const newRange = 'custom';

/** Selects a time range: one that ends now, a day, or a custom one. Without a `fallback`, "any time" is an option too. */
export function RangeField({
  search,
  fallback,
  onChange,
}: {
  search: Search;
  fallback?: RecentRange;
  onChange: (change: Record<string, string | undefined>) => void;
}) {
  const { zone } = useSettings();
  const [isChoosing, setChoosing] = useState(false);
  const hasOwn = search.last === undefined && (search.from !== undefined || search.to !== undefined);
  const { from, to } = rangeOf(search, Date.now(), zone);
  const nameEnd = (ms: number | undefined) => (ms === undefined ? '' : formatMinute(ms, zone));
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
        initial={rangeOf(hasOwn ? search : { last: fallback ?? '24h' }, Date.now(), zone)}
        onClose={() => setChoosing(false)}
        onChoose={(range) => onChange({ last: undefined, ...range })}
      />
    </>
  );
}
