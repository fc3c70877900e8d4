import { useNavigate } from '@tanstack/react-router';
import { useSearchTexts } from '../url/use-search.ts';

export interface TableSort {
  /** A column's title in lower case, with a minus for the reverse; undefined is the order of the rows. */
  by: string | undefined;
  onSort: (by: string | undefined) => void;
}

/** The order from the address. @param name of the parameter: a page with several tables has several. */
export function useSort(name = 'sort'): TableSort {
  const { [name]: by, ...others } = useSearchTexts();
  const navigate = useNavigate();
  return {
    by,
    onSort: (next) =>
      void navigate({
        to: '.',
        search: next === undefined ? others : { ...others, [name]: next },
        replace: true,
      }),
  };
}

interface Sortable<Row> {
  title: string;
  sortBy?: (row: Row) => number | string | null;
}

/** Numbers begin with the largest, texts with the alphabet. Rows without a value always come last. */
export function sortRows<Row>(
  rows: readonly Row[],
  columns: readonly Sortable<Row>[],
  by: string | undefined,
): readonly Row[] {
  const isReverse = by?.startsWith('-') === true;
  const name = isReverse ? by?.slice(1) : by;
  const sortBy = columns.find(({ title }) => nameOf(title) === name)?.sortBy;
  if (name === undefined || sortBy === undefined) return rows;
  return rows.toSorted((a, b) => {
    const [one, other] = [sortBy(a), sortBy(b)];
    if (one === null || other === null) return Number(one === null) - Number(other === null);
    const order =
      typeof one === 'number' && typeof other === 'number'
        ? other - one
        : String(one).localeCompare(String(other), 'en');
    return isReverse ? -order : order;
  });
}

/** The next order after a click on a title: its own, the reverse, then that of the rows. */
export function nextSort(title: string, by: string | undefined): string | undefined {
  const name = nameOf(title);
  if (by === name) return `-${name}`;
  return by === `-${name}` ? undefined : name;
}

export function sortState(title: string, by: string | undefined): 'first' | 'reverse' | undefined {
  if (by === nameOf(title)) return 'first';
  return by === `-${nameOf(title)}` ? 'reverse' : undefined;
}

export function nameOf(title: string): string {
  return title.toLowerCase();
}
