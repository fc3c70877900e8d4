import { z } from 'zod';
import type { Database } from '../../../lib/db/database.ts';
import type { EventFilter } from '../../../lib/read/event-filter.ts';
import { formatPosition, type TailPosition } from '../../../lib/tail/position.ts';
import { readEdge } from '../../../lib/tail/stored-entries.ts';
import { listedEvent } from '../events/listed-event.ts';
import type { TrackedMessage } from './encoded-message.ts';
import { readLivePage } from './live-page.ts';
import type { LiveQuery, LiveStreams } from './live-streams.ts';

/** What one space stores, in the order in which it was stored. */
export interface SpaceLive {
  /** A live stream: see LiveStreams. */
  tail(query: Omit<LiveQuery, 'spaceId'>): AsyncGenerator<TrackedMessage, void>;
  /** The next events that were stored after a position. */
  since(query: SinceQuery): Promise<StoredSince>;
}

export interface SinceQuery {
  filter: EventFilter;
  after: TailPosition | undefined;
  limit: number;
}

export const storedSince = z
  .object({
    /** In the order in which they were stored, at most `limit`. There may be more when there are fewer: see `isComplete`. */
    events: z.array(listedEvent),
    /** Where the next call goes on, or a live stream. */
    cursor: z.string(),
    /** Whether nothing else that matches is stored now. */
    isComplete: z.boolean(),
  })
  .meta({ id: 'StoredSince' });
export type StoredSince = z.infer<typeof storedSince>;

export function openSpaceLive(database: Database, streams: LiveStreams, spaceId: string): SpaceLive {
  return {
    tail: (query) => streams.open({ ...query, spaceId }),
    since: (query) => readSince(database, spaceId, query),
  };
}

async function readSince(
  database: Database,
  spaceId: string,
  { filter, after, limit }: SinceQuery,
): Promise<StoredSince> {
  if (after === undefined)
    return { events: [], cursor: formatPosition(await readEdge(database)), isComplete: true };
  const { events, end, isComplete } = await readLivePage(database, spaceId, {
    filters: [filter],
    after,
    rowsMax: limit,
  });
  return { events: events.map(({ event }) => event), cursor: formatPosition(end), isComplete };
}
