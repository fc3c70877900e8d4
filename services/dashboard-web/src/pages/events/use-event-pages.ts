import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { apiQuery, callQuery } from '../../api/query.ts';
import type { ListInput } from '../../filter/event-filter.ts';
import { useSpace } from '../../space/space.ts';

const pageEvents = 100;
/** How often the list asks for newer events, in milliseconds, while its window is visible. */
const pollMs = 5_000;
const newestMax = 100;

/** The events of a filter, page by page, newest first. Rows that are shown never move: newer ones are counted only. */
export function useEventPages(input: ListInput) {
  const { id: spaceId } = useSpace();
  const pages = useInfiniteQuery({
    queryKey: ['events.list', 'pages', { ...input, spaceId }],
    queryFn: ({ pageParam, signal }) =>
      callQuery(
        'events.list',
        { ...input, spaceId, limit: pageEvents, ...(pageParam === '' ? {} : { cursor: pageParam }) },
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const newest = useQuery({
    ...apiQuery('events.list', { ...input, spaceId, limit: newestMax }),
    enabled: pages.isSuccess,
    refetchInterval: pollMs,
    staleTime: 0,
  });
  const events = pages.data?.pages.flatMap((page) => page.events) ?? [];
  return { ...pages, events, newCount: countNew(events, newest.data?.events ?? []), newCountMax: newestMax };
}

/** Events that are not in the list, but belong before its end. */
function countNew(shown: readonly { id: string }[], newest: readonly { id: string }[]): number {
  const ids = new Set(shown.map(({ id }) => id));
  const lastKnown = newest.findLastIndex(({ id }) => ids.has(id));
  const candidates = shown.length === 0 || lastKnown === -1 ? newest : newest.slice(0, lastKnown + 1);
  return candidates.filter(({ id }) => !ids.has(id)).length;
}
