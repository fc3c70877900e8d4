import { SelectField } from '../ui/field.tsx';
import type { Search } from '../url/search.ts';
import { isLast, type Last, lasts } from './last.ts';

const anyTime = 'any';
const ownRange = 'own';

/** Selects a time range that ends now. Without a `fallback`, "any time" is an option too. */
export function RangeField({
  search,
  fallback,
  onChange,
}: {
  search: Search;
  fallback?: Last;
  onChange: (change: Record<string, string | undefined>) => void;
}) {
  const hasOwn = search.last === undefined && (search.from !== undefined || search.to !== undefined);
  const options = [
    ...(fallback === undefined ? [{ value: anyTime, label: 'Any time' }] : []),
    ...(hasOwn ? [{ value: ownRange, label: 'Custom range' }] : []),
    ...Object.entries(lasts).map(([value, { label }]) => ({ value, label })),
  ];
  const value = hasOwn ? ownRange : isLast(search.last) ? search.last : (fallback ?? anyTime);
  const onChoose = (chosen: string) => {
    if (chosen === ownRange) return;
    onChange({ last: isLast(chosen) ? chosen : undefined, from: undefined, to: undefined });
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
