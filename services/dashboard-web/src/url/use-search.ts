import { useSearch } from '@tanstack/react-router';
import type { Search } from './search.ts';

export function useSearchTexts(): Search {
  // Every route has texts only (parseSearch); the router's type allows for routes without a search.
  return useSearch({ strict: false }) as Search;
}
