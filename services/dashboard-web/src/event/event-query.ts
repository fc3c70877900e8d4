import type { Output } from '../api/paths.ts';
import { apiQuery } from '../api/query.ts';

export type ListedEvent = Output<'events.list'>['events'][number];
export type WholeEvent = Output<'events.get'>;

/** An event never changes: it is loaded once. It may be megabytes: few are kept. */
export function eventQuery(spaceId: string, id: string) {
  return { ...apiQuery('events.get', { spaceId, id }), staleTime: Number.POSITIVE_INFINITY, gcTime: 60_000 };
}
