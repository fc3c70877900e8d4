import { ArrowDown, ArrowUp, ChevronsUpDown } from 'lucide-react';
import { SelectField } from '../ui/field.tsx';
import { nameOf, nextSort, sortState, type TableSort } from './table-sort.ts';

/** The title of a column as a button that sorts by it. */
export function SortTitle({ title, sort }: { title: string; sort: TableSort }) {
  const state = sortState(title, sort.by);
  const Icon = state === undefined ? ChevronsUpDown : state === 'reverse' ? ArrowUp : ArrowDown;
  return (
    <button
      type="button"
      onClick={() => sort.onSort(nextSort(title, sort.by))}
      className={`inline-flex min-h-6 items-center gap-1 rounded-sm hover:text-ink ${state === undefined ? '' : 'text-accent'}`}
    >
      {title}
      <Icon aria-hidden className="size-3" />
    </button>
  );
}

const unsorted = 'none';

/** The same choice where rows are cards, which have no titles of columns. */
export function SortField({
  columns,
  sort,
}: {
  columns: readonly { title: string; sortBy?: unknown }[];
  sort: TableSort;
}) {
  const options = columns.flatMap(({ title, sortBy }) =>
    sortBy === undefined ? [] : [{ value: nameOf(title), label: `Sort by ${title.toLowerCase()}` }],
  );
  const value = options.find((option) => option.value === sort.by?.replace(/^-/, ''))?.value ?? unsorted;
  return (
    <div className="flex justify-end border-line border-b px-4 py-1.5 md:hidden">
      <SelectField
        label="Order"
        isLabelHidden
        options={[{ value: unsorted, label: 'Default order' }, ...options]}
        value={value}
        onChange={(chosen) => sort.onSort(chosen === unsorted ? undefined : chosen)}
        className="w-44"
      />
    </div>
  );
}
