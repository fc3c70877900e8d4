import { useNavigate } from '@tanstack/react-router';
import type { TableSort } from '../table/table-sort.ts';
import { useSearchTexts } from './use-search.ts';

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
