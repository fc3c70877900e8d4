import { asc, eq } from 'drizzle-orm';
import { readUsage } from '../../../store/accounts/usage.ts';
import type { Database } from '../../../store/db/database.ts';
import {
  agentStats,
  agentStatsRollups,
  eventStats,
  eventStatsRollups,
  events,
  segments,
} from '../../../store/db/schema.ts';
import { readEventTexts } from '../../../store/segments/read.ts';
import { foldStatistics } from '../../../store/write/statistics/fold.ts';

/**
 * The counts of a latency sketch by bucket. What was added and subtracted again leaves an element of zero.
 */
function countBuckets(latency: readonly bigint[]): string[] {
  const counts = Map.groupBy(latency, (element) => BigInt(element) >> 40n);
  return Array.from(counts, ([bucket, own]) => {
    const count = own.reduce((sum, element) => sum + Number(BigInt.asIntN(40, BigInt(element))), 0);
    return count === 0 ? [] : `${bucket}: ${count}`;
  })
    .flat()
    .sort();
}

/** Everything that is stored of a space, without what depends on places and times of receipt. */
export async function readStored(database: Database, spaceId: string) {
  await foldStatistics(database);
  const rows = await database
    .select()
    .from(events)
    .where(eq(events.spaceId, spaceId))
    .orderBy(asc(events.id));
  const texts = await readEventTexts(database, spaceId, rows);
  const held = await database.select().from(segments).where(eq(segments.spaceId, spaceId));
  const statistics = await Promise.all(
    [eventStats, eventStatsRollups, agentStats, agentStatsRollups].map(async (table) => {
      const counted = await database.select().from(table).where(eq(table.spaceId, spaceId));
      // An empty sum stays as a row.
      return counted
        .filter((row) => row.events !== 0)
        .map(({ spaceId: _, latency, ...row }) => JSON.stringify({ ...row, latency: countBuckets(latency) }))
        .sort();
    }),
  );
  return {
    events: rows.map(({ spaceId: _, segmentId, segmentIndex, receivedAt, attributes, ...row }, place) => {
      const { properties, status, durationMs } = JSON.parse(texts[place] ?? '');
      const { otel: _otel, ...llm } = properties.llm ?? {};
      const merged = String(attributes?.['otel.merged_span_ids'] ?? '')
        .split(',')
        .sort();
      return { ...row, merged, status, duration: durationMs, llm };
    }),
    usage: (await readUsage(database, spaceId))?.events,
    held: held.reduce((sum, { eventCount }) => sum + eventCount, 0),
    statistics,
  };
}
