import { and, count, countDistinct, eq, inArray, max, min } from 'drizzle-orm';
import type { Database } from '../../store/db/database.ts';
import { events } from '../../store/db/schema.ts';
import { listBatches } from './candidates.ts';
import { matchRows, type Subject } from './subject.ts';
import { readQuarantined, wipePart } from './wiped-part.ts';

export type ErasurePreview = Awaited<ReturnType<typeof previewErasure>>;

/**
 * Counts what an erasure would erase now, without what is still in the queue. Start times are ISO 8601, of
 * events that are not in quarantine.
 * @param timeMsMax after which the count ends. By default it has no limit.
 */
export async function previewErasure(
  database: Database,
  spaceId: string,
  { subject, timeMsMax = Infinity }: { subject: Subject; timeMsMax?: number },
) {
  const endMs = performance.now() + timeMsMax;
  const found = { events: 0, segments: 0, quarantineEvents: 0 };
  let [fromMs, toMs] = [Infinity, -Infinity];
  const describe = (isComplete: boolean) => ({
    ...found,
    from: fromMs === Infinity ? null : new Date(fromMs).toISOString(),
    to: toMs === -Infinity ? null : new Date(toMs).toISOString(),
    isComplete,
  });
  for await (const batch of listBatches(database, { spaceId, subject })) {
    const [counted] = await database
      .select({
        rows: count(),
        segments: countDistinct(events.segmentId),
        fromMs: min(events.startTimeMs),
        toMs: max(events.startTimeMs),
      })
      .from(events)
      .where(and(eq(events.spaceId, spaceId), inArray(events.segmentId, [...batch]), matchRows(subject)));
    found.events += counted?.rows ?? 0;
    found.segments += counted?.segments ?? 0;
    fromMs = Math.min(fromMs, counted?.fromMs ?? Infinity);
    toMs = Math.max(toMs, counted?.toMs ?? -Infinity);
    if (performance.now() > endMs) return describe(false);
  }
  for await (const part of readQuarantined(database, spaceId)) {
    found.quarantineEvents += wipePart(part, subject)?.erasedIds.length ?? 0;
    if (performance.now() > endMs) return describe(false);
  }
  return describe(true);
}
