import { z } from 'zod';
import type { EventFilter } from '../../../store/read/event-filter.ts';
import { createPredicate } from '../../../store/read/event-predicate.ts';
import { formatPosition, type TailPosition } from '../../../store/tail/position.ts';
import { readEdge } from '../../../store/tail/space-commits.ts';
import { withRecentRates } from '../charts/cost-rates.ts';
import { listedEvent } from '../events/listed-event.ts';
import { refusal } from '../refusal.ts';
import type { SpaceData, SpaceRows } from '../space-data.ts';
import type { TrackedMessage } from './live-message.ts';
import { readMatching } from './live-page.ts';
import type { LiveQuery } from './live-streams.ts';

export interface SinceQuery {
  filter: EventFilter;
  after: TailPosition | undefined;
  until: TailPosition | undefined;
  limit: number;
}

export const storedSince = z
  .object({
    /** In storage order, at most `limit`. There may be more even when there are fewer: see `isComplete`. */
    events: z.array(listedEvent),
    /** The position for the next call, or for a live stream. */
    cursor: z.string(),
    /** Whether nothing further that matches is stored now, or was stored before `until`. */
    isComplete: z.boolean(),
    /** `after` is too old or from another database: what was stored between it and `cursor` is unknown. */
    hasGap: z.boolean(),
  })
  .meta({ id: 'StoredSince' });
export type StoredSince = z.infer<typeof storedSince>;

export async function* tailEvents(
  space: SpaceData,
  query: Omit<LiveQuery, 'spaceId'>,
): AsyncGenerator<TrackedMessage, void> {
  if (query.filter.notes !== undefined)
    throw refusal('BAD_REQUEST', 'notes: events that were just stored have none. List the events instead.');
  const filter = await withRecentRates(space, query.filter);
  yield* space.streams.open({ ...query, filter, spaceId: space.spaceId });
}

export async function readSince(
  space: SpaceRows,
  { filter: asked, after, until, limit }: SinceQuery,
): Promise<StoredSince> {
  const { database, spaceId } = space;
  const filter = await withRecentRates(space, asked);
  const page =
    after &&
    (await readMatching(database, spaceId, {
      after,
      until,
      filter,
      limit,
      predicate: createPredicate(filter),
    }));
  if (page !== undefined) {
    const { events, end, isComplete } = page;
    const shown = events.map(({ event }) => event);
    return { events: shown, cursor: formatPosition(end), isComplete, hasGap: false };
  }
  const cursor = formatPosition(await readEdge(database, spaceId));
  return { events: [], cursor, isComplete: true, hasGap: after !== undefined };
}
