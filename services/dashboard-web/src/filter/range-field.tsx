import { SelectField } from '../ui/field.tsx';
import type { Search } from '../url/search.ts';
import { isRecentRange, type RecentRange, recentRanges } from './recent-range.ts';

const anyTime = 'any';
const ownRange = 'own';

/** Selects a time range that ends now. Without a `fallback`, "any time" is an option too. */
export function RangeField({
  search,
  fallback,
  onChange,
}: {
  search: Search;
  fallback?: RecentRange;
  onChange: (change: Record<string, string | undefined>) => void;
}) {
  const hasOwn = search.last === undefined && (search.from !== undefined || search.to !== undefined);
  const options = [
    ...(fallback === undefined ? [{ value: anyTime, label: 'Any time' }] : []),
    ...(hasOwn ? [{ value: ownRange, label: 'Custom range' }] : []),
    ...Object.entries(recentRanges).map(([value, { label }]) => ({ value, label })),
  ];
  const value = hasOwn ? ownRange : isRecentRange(search.last) ? search.last : (fallback ?? anyTime);
  const onChoose = (chosen: string) => {
    if (chosen === ownRange) return;
    onChange({ last: isRecentRange(chosen) ? chosen : undefined, from: undefined, to: undefined });
  };
  return (
    <SelectField
      label="Time range"
      isLabelHidden
      options={options}
      value={value}
      onChange={onChoose}
      className="w-36"
    />
  );
}
