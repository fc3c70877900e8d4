import type { Output } from '../api/query.ts';
import { useSpaceQuery } from '../space/use-space-query.ts';
import { formatSearch, type Search } from '../url/search.ts';

export type View = Output<'views.list'>[number];

/** The views that the viewer sees in the space, of all lists. */
export function useViews(): readonly View[] {
  return useSpaceQuery('views.list', {}).data ?? [];
}

/** What a view keeps of an address: all but the event that is open beside the list. */
export function savedAddress({ peek: _, ...search }: Search): string {
  return formatSearch(search);
}
