import { and, eq, inArray } from 'drizzle-orm';
import { z } from 'zod';
import { events } from '../../../store/db/schema.ts';
import { countTokensOf } from '../../../store/read/compare/comparisons.ts';
import type { EventFilter } from '../../../store/read/event-filter.ts';
import { readEventPage } from '../../../store/read/event-page.ts';
import { newestLimits } from '../../../store/read/limits.ts';
import { completeFilter } from '../charts/cost-rates.ts';
import { costsOfEvents, pricedColumns } from '../charts/token-prices.ts';
import { topEventsCompared } from '../limits.ts';
import type { SpaceRows } from '../space-data.ts';
import { columnsFor, eventRow, showRows } from './event-row.ts';

export const topEvents = z
  .object({
    /** The largest first. */
    events: z.array(eventRow),
    /** Number of matching events that were compared: the newest of the filter. */
    compared: z.number(),
    /** The start of the oldest one, in milliseconds since the epoch; null when all were compared. */
    comparedUntilMs: z.number().nullable(),
  })
  .meta({ id: 'TopEvents' });
export type TopEvents = z.infer<typeof topEvents>;

export type TopMeasure = 'duration' | 'tokens' | 'cost';

const comparedColumns = {
  id: events.id,
  segmentId: events.segmentId,
  ...pricedColumns,
  durationMs: events.durationMs,
  totalTokens: events.totalTokens,
};

type ComparedRow = Pick<typeof events.$inferSelect, keyof typeof comparedColumns>;

/**
 * Compares a bounded number of the newest events, since no index has these orders; a range selects others.
 */
export async function readTopEvents(
  space: SpaceRows,
  {
    by,
    filter: asked,
    limit,
    attributeKeys,
  }: { by: TopMeasure; filter: EventFilter; limit: number; attributeKeys: readonly string[] },
): Promise<TopEvents> {
  const { database, spaceId } = space;
  const filter = await completeFilter(space, asked);
  const query = { filter, after: undefined, limit: topEventsCompared };
  const page = await readEventPage(database, spaceId, {
    columns: comparedColumns,
    ...query,
    limits: newestLimits,
  });
  const values = await measure(space, by, page.rows);
  const top = page.rows
    .flatMap((row, place) => {
      const value = values[place] ?? null;
      return value === null ? [] : [{ row, value }];
    })
    // The sort is stable: the newest of equal events is first.
    .toSorted((a, b) => b.value - a.value)
    .slice(0, limit)
    .map(({ row }) => row);
  return {
    events: await readListed(space, top, attributeKeys),
    compared: page.rows.length,
    comparedUntilMs: page.next?.startTimeMs ?? null,
  };
}

async function measure(
  { database, spaceId }: SpaceRows,
  by: TopMeasure,
  rows: readonly ComparedRow[],
): Promise<(number | null)[]> {
  if (by === 'duration') return rows.map(({ durationMs }) => durationMs);
  if (by === 'tokens') return rows.map(countTokensOf);
  const costs = await costsOfEvents(database, spaceId, rows);
  // Doubles are exact enough for an order.
  return costs.map(({ cost }) => (cost === null ? null : Number(cost)));
}

/** The listed columns of these events, in their order. Events deleted meanwhile are omitted. */
async function readListed(
  { database, spaceId }: SpaceRows,
  top: readonly ComparedRow[],
  attributeKeys: readonly string[],
) {
  if (top.length === 0) return [];
  const rows = await database
    .select(columnsFor(attributeKeys))
    .from(events)
    .where(
      and(
        eq(events.spaceId, spaceId),
        // Selects the partitions.
        inArray(events.segmentId, [...new Set(top.map(({ segmentId }) => segmentId))]),
        inArray(
          events.id,
          top.map(({ id }) => id),
        ),
      ),
    );
  const shown = await showRows({ database, spaceId }, rows, attributeKeys);
  const byId = new Map(shown.map((event) => [event.id, event]));
  return top.flatMap(({ id }) => byId.get(id) ?? []);
}
