import type { inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from '../../services/dashboard-api/router.ts';
import type { TableColumn } from './table.ts';

/** An event of a list, as the dashboard API returns it. */
export type ListedEvent = inferRouterOutputs<AppRouter>['events']['list']['events'][number];

/** The columns of events on a terminal. */
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

/** As the API compares and orders them. */
function tokensOf({ totalTokens, inputTokens, outputTokens }: ListedEvent): number | null {
  if (inputTokens === null && outputTokens === null) return totalTokens;
  return (inputTokens ?? 0) + (outputTokens ?? 0);
}

/** UTC, to the second. */
export function formatTime(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 19).replace('T', ' ');
}
