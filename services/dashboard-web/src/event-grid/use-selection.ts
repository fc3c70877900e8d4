import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { eventQuery, type ListedEvent } from '../event/event-query.ts';
import { filterOf } from '../filter/conditions.ts';
import { useFilter } from '../filter/use-filter.ts';
import { useShortcuts } from '../settings/settings.ts';
import { useOpen, useSpace } from '../space/space.tsx';

const prefetched = 2;

/** The event beside the list, with its keys. The events after it are prefetched. */
export function useSelection(events: readonly ListedEvent[]) {
  const { search, set } = useFilter();
  const { id: spaceId } = useSpace();
  const navigate = useNavigate();
  const openPage = useOpen();
  const queries = useQueryClient();
  const place = events.findIndex(({ id }) => id === search.peek);
  const select = (event: ListedEvent | undefined) => {
    if (event !== undefined)
      void navigate({ to: '.', search: { ...search, peek: event.id }, replace: search.peek !== undefined });
  };
  const open = (event: ListedEvent | undefined) => {
    if (event === undefined) return;
    openPage({ page: 'event', id: event.id, search: filterOf(search) });
  };
  useShortcuts({
    j: () => select(events[place + 1]),
    k: () => select(events[Math.max(0, place - 1)]),
    enter: () => open(events[place]),
    escape: () => search.peek !== undefined && set({ peek: undefined }),
  });
  useEffect(() => {
    if (place === -1) return;
    for (const { id } of events.slice(place + 1, place + 1 + prefetched))
      void queries.prefetchQuery(eventQuery(spaceId, id));
  }, [place, events, queries, spaceId]);
  return { select, open };
}
