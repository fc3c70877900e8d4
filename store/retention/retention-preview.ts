import { and, eq, lt, min, sql } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { segments } from '../db/schema.ts';
import { boundOf } from '../db/weeks.ts';
import { segmentIdDelayMs } from './limits.ts';
import { cutoffOf, effectiveRetentionDays } from './policy.ts';

export type RetentionPreview = Awaited<ReturnType<typeof previewRetention>>;

/**
 * Counts what a writer would delete, also events expired by the present retention, but none of an ingest with
 * a wrong clock, which are in no weekly partition.
 * @param rule `nowMs`: the retention clock is never later, so no more events than these expire now.
 */
export async function previewRetention(
  database: Database,
  spaceId: string,
  rule: { retentionDays: number | null; nowMs: number; retentionDaysMax: number | undefined },
) {
  const days = effectiveRetentionDays(rule.retentionDays, rule.retentionDaysMax);
  if (days === undefined) return { effectiveDays: null, cutoff: null, events: 0, oldest: null };
  const cutoffMs = cutoffOf(days, rule.nowMs);
  const cutoff = new Date(cutoffMs);
  const [row] = await database
    .select({
      events: sql<number>`coalesce(sum(${segments.eventCount}), 0)::float8`,
      oldest: min(segments.receivedAt),
    })
    .from(segments)
    .where(
      and(
        eq(segments.spaceId, spaceId),
        lt(segments.receivedAt, cutoff),
        // A range of the primary key, which also prunes the partitions of later weeks.
        lt(segments.id, boundOf(Math.max(0, cutoffMs + segmentIdDelayMs))),
      ),
    );
  return { effectiveDays: days, cutoff, events: row?.events ?? 0, oldest: row?.oldest ?? null };
}
