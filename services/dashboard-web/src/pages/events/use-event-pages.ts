import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { callQuery } from '../../api/query.ts';
import type { ListInput } from '../../filter/event-filter.ts';
import { useSpace } from '../../space/space.ts';

const pageEvents = 100;

/** The events of a filter, page by page, newest first. Visible rows never move: newer events are only counted. */
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
  const events = useMemo(() => pages.data?.pages.flatMap((page) => page.events) ?? [], [pages.data]);
  return { ...pages, events };
}
