import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import { events } from '../../../store/db/schema.ts';
import type { EventFilter } from '../../../store/read/event-filter.ts';
import { findNeighbours, type Neighbour } from '../../../store/read/event-neighbours.ts';
import { completeFilter } from '../charts/cost-rates.ts';
import type { SpaceRows } from '../space-data.ts';
import { type ListedEvent, type ListedRow, listedColumns, listedEvent, showEvents } from './listed-event.ts';

const shownNeighbours = z
  .object({
    /** The next newer event; null when there is none, or when `isNewerCertain` is false. */
    newer: listedEvent.nullable(),
    /** False when the search stopped at its limit without finding one, so there may be one. */
    isNewerCertain: z.boolean(),
    older: listedEvent.nullable(),
    isOlderCertain: z.boolean(),
  })
  .meta({ id: 'ShownNeighbours' });
export type ShownNeighbours = z.infer<typeof shownNeighbours>;

export const eventNeighbours = z
  .object({
    inList: shownNeighbours,
    /** Null when the event has no thread. */
    inThread: shownNeighbours.nullable(),
    /** Null when the event has no trace. */
    inTrace: shownNeighbours.nullable(),
  })
  .meta({ id: 'EventNeighbours' });
export type EventNeighbours = z.infer<typeof eventNeighbours>;

/** @returns undefined when the space has no such event. */
export async function readNeighbours(
  space: SpaceRows,
  { id, filter: asked }: { id: string; filter: EventFilter },
): Promise<EventNeighbours | undefined> {
  const { database, spaceId } = space;
  const filter = await completeFilter(space, asked);
  const { startTimeMs, threadId, traceId } = events;
  const [at] = await database
    .select({ id: events.id, startTimeMs, threadId, traceId })
    .from(events)
    .where(and(eq(events.spaceId, spaceId), eq(events.id, id)))
    .prepare('event_position')
    .execute();
  if (at === undefined) return undefined;
  const show = async ({ row }: Neighbour<ListedRow>): Promise<ListedEvent | null> =>
    (row && (await showEvents(database, spaceId, [row]))[0]) ?? null;
  const find = async (within: EventFilter): Promise<ShownNeighbours> => {
    const { newer, older } = await findNeighbours(database, spaceId, {
      columns: listedColumns,
      filter: within,
      at,
    });
    const [shownNewer, shownOlder] = await Promise.all([show(newer), show(older)]);
    return {
      newer: shownNewer,
      isNewerCertain: newer.isCertain,
      older: shownOlder,
      isOlderCertain: older.isCertain,
    };
  };
  const [inList, inThread, inTrace] = await Promise.all([
    find(filter),
    at.threadId === null ? null : find({ threadId: at.threadId }),
    at.traceId === null ? null : find({ traceId: at.traceId }),
  ]);
  return { inList, inThread, inTrace };
}
