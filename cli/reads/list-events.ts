import type { inferRouterInputs } from '@trpc/server';
import type { AppRouter } from '../../services/dashboard-api/router.ts';
import type { EventFilter } from '../../store/read/event-filter.ts';
import type { ListedEvent } from './event-columns.ts';
import type { ReadApi } from './read-api.ts';

type ListInput = NonNullable<inferRouterInputs<AppRouter>['events']['list']>;

/** The largest page of `events.list`. */
const pageEventsMax = 200;

/** Yields the events of a filter, newest first, page by page. */
export async function* listEvents(
  api: ReadApi,
  filter: EventFilter,
  limit: number,
): AsyncGenerator<ListedEvent> {
  // The API's type differs only in that its lists are mutable.
  const asked = filter as ListInput;
  let cursor: string | undefined;
  for (let left = limit; left > 0; ) {
    const page = await api.query('events', 'list', {
      ...asked,
      limit: Math.min(left, pageEventsMax),
      cursor,
    });
    yield* page.events;
    left -= page.events.length;
    if (page.nextCursor === null) return;
    cursor = page.nextCursor;
  }
}
