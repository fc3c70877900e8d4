import { and, count, countDistinct, eq, inArray, sql } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { events, quarantine } from '../db/schema.ts';
import { listBatches } from './candidates.ts';
import { matchRows, type Subject } from './subject.ts';
import { wipePart } from './wiped-part.ts';

/** What an erasure would find now, beside what is still in the queue. */
export interface ErasurePreview {
  readonly events: number;
  readonly segments: number;
  readonly quarantineEvents: number;
}

/** Counts what an erasure would erase, and changes nothing. */
export async function previewErasure(
  database: Database,
  spaceId: string,
  subject: Subject,
): Promise<ErasurePreview> {
  const [row] = await database.execute<{ snapshot: string }>(
    sql`SELECT pg_current_snapshot()::text AS snapshot`,
  );
  const now = { spaceId, subject, startedAtMs: Date.now(), snapshot: row?.snapshot ?? '' };
  const found = { events: 0, segments: 0, quarantineEvents: 0 };
  for await (const batch of listBatches(database, now)) {
    const [counted] = await database
      .select({ rows: count(), segments: countDistinct(events.segmentId) })
      .from(events)
      .where(and(eq(events.spaceId, spaceId), inArray(events.segmentId, [...batch]), matchRows(subject)));
    found.events += counted?.rows ?? 0;
    found.segments += counted?.segments ?? 0;
  }
  const entries = await database
    .select({ id: quarantine.id })
    .from(quarantine)
    .where(eq(quarantine.spaceId, spaceId));
  for (const { id } of entries) {
    const isEntry = and(eq(quarantine.spaceId, spaceId), eq(quarantine.id, id));
    const [entry] = await database.select({ part: quarantine.part }).from(quarantine).where(isEntry);
    const wiped = entry && wipePart(entry.part, subject);
    if (typeof wiped === 'object') found.quarantineEvents += wiped.erasedIds.length;
  }
  return found;
}
