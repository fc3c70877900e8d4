import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from '../../services/dashboard-api/router.ts';
import type { EventFilter } from '../../store/read/event-filter.ts';
import type { ReadApi } from './read-api.ts';
import type { TableColumn } from './table.ts';

type ListInput = NonNullable<inferRouterInputs<AppRouter>['events']['list']>;

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

export type ListedEvent = inferRouterOutputs<AppRouter>['events']['list']['events'][number];

export const eventColumns: readonly TableColumn<ListedEvent>[] = [
  { title: 'STARTED', width: 19, cell: ({ startTimeMs }) => formatTime(startTimeMs) },
  { title: 'STATE', width: 5, cell: ({ state }) => state },
  { title: 'TYPE', width: 4, cell: ({ type }) => type },
  { title: 'NAME', width: 24, cell: ({ name }) => name },
  { title: 'MS', width: 8, isNumber: true, cell: ({ durationMs }) => Math.round(durationMs) },
  { title: 'TOKENS', width: 8, isNumber: true, cell: tokensOf },
  { title: 'USER', width: 14, cell: ({ userId }) => userId },
  { title: 'TEXT', cell: (event) => event.errorMessage ?? event.outputPreview ?? event.inputPreview },
];

/** The tokens by which the API compares and orders events. */
function tokensOf({ totalTokens, inputTokens, outputTokens }: ListedEvent): number | null {
  if (inputTokens === null && outputTokens === null) return totalTokens;
  return (inputTokens ?? 0) + (outputTokens ?? 0);
}

/** UTC, to the second. */
function formatTime(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 19).replace('T', ' ');
}
