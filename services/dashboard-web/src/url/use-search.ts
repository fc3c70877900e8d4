import { useNavigate, useSearch } from '@tanstack/react-router';
import type { TableSort } from '../table/table-sort.ts';
import type { Search } from './search.ts';

/** The search of the page's address. */
export function useSearchTexts(): Search {
  // Every route has texts only (parseSearch); the router's type allows for routes without a search.
  return useSearch({ strict: false }) as Search;
}

/**
 * The order of a table, from the address. @param name of the parameter: a page with several tables has
 * several.
 */
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
