import { and, count, countDistinct, eq, inArray } from 'drizzle-orm';
import type { Database } from '../../lib/db/database.ts';
import { events, quarantine } from '../../lib/db/schema.ts';
import { listBatches } from './candidates.ts';
import { matchRows, type Subject } from './subject.ts';
import { readPart, wipePart } from './wiped-part.ts';

/** What an erasure would find now, without what is still in the queue. */
export interface ErasurePreview {
  readonly events: number;
  readonly segments: number;
  readonly quarantineEvents: number;
}

/** Counts what an erasure would erase. Changes nothing. */
export async function previewErasure(
  database: Database,
  spaceId: string,
  subject: Subject,
): Promise<ErasurePreview> {
  const found = { events: 0, segments: 0, quarantineEvents: 0 };
  for await (const batch of listBatches(database, { spaceId, subject })) {
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
    const part = entry && readPart(entry.part);
    found.quarantineEvents += (part && wipePart(part, subject)?.erasedIds.length) ?? 0;
  }
  return found;
}
