import { and, eq, lt, or, type SQL, sql } from 'drizzle-orm';
import { anyTerm, hashTerm, inSpace } from '../../event/terms.ts';
import type { Database } from '../db/database.ts';
import { eventIds, events, notes, segments } from '../db/schema.ts';

const ofEvent = eq(notes.target, 'event');

/** The condition that a note is on an event that this table has. */
export function isOnEventIn(table: typeof events | typeof eventIds, spaceId: string): SQL {
  // CASE: other ids are no UUIDs.
  const id = sql`CASE WHEN ${ofEvent} THEN ${notes.targetId}::uuid END`;
  return sql`EXISTS (SELECT 1 FROM ${table} WHERE ${eq(table.spaceId, spaceId)} AND ${table.id} = ${id})`;
}

/**
 * Deletes the notes of a space on events that have expired, and on those traces and threads of which no event
 * is left. A note on what was never stored expires by its own age, as does one on a trace or thread: it may
 * be of events that are still to come.
 * @param cutoffMs events that were received before have expired.
 * @returns how many.
 */
export async function deleteExpiredNotes(
  database: Database,
  spaceId: string,
  cutoffMs: number,
): Promise<number> {
  const isIn = (table: typeof events | typeof eventIds) => isOnEventIn(table, spaceId);
  const isOld = lt(notes.createdAt, new Date(cutoffMs));
  const { count } = await database
    .delete(notes)
    .where(and(eq(notes.spaceId, spaceId), ofEvent, sql`NOT ${isIn(events)}`, or(isOld, isIn(eventIds))));
  const old = await database
    .selectDistinct({ target: notes.target, targetId: notes.targetId })
    .from(notes)
    .where(and(eq(notes.spaceId, spaceId), sql`NOT ${ofEvent}`, isOld));
  let deleted = count;
  for (const { target, targetId } of old) {
    const column = target === 'trace' ? 'traceId' : 'threadId';
    const terms = inSpace(spaceId, [hashTerm({ column, value: targetId }, 'any'), anyTerm]);
    const candidates = sql`SELECT ${segments.id} FROM ${segments} WHERE ${eq(segments.spaceId, spaceId)}
      AND ${segments.terms} && ${`{${terms.join(',')}}`}::bigint[]`;
    const isLeft: SQL = sql`EXISTS (SELECT 1 FROM ${events} WHERE ${eq(events.spaceId, spaceId)}
      AND ${events.segmentId} IN (${candidates}) AND ${eq(events[column], targetId)})`;
    const isOn = and(eq(notes.target, target), eq(notes.targetId, targetId));
    deleted += (
      await database.delete(notes).where(and(eq(notes.spaceId, spaceId), isOn, isOld, sql`NOT ${isLeft}`))
    ).count;
  }
  return deleted;
}

/** The spaces that have notes. */
export async function listNotedSpaces(database: Database): Promise<Set<string>> {
  const rows = await database.selectDistinct({ spaceId: notes.spaceId }).from(notes);
  return new Set(rows.map(({ spaceId }) => spaceId));
}
