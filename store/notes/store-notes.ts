import { and, eq, inArray, sql } from 'drizzle-orm';
import { type Actor, runAudited } from '../accounts/audit/audit.ts';
import type { Database } from '../db/database.ts';
import { isNotDeleted } from '../db/deleted-spaces.ts';
import { eventIds, events, notes } from '../db/schema.ts';
import { listOf, nameOf, namesOf } from '../db/statement.ts';
import { contentColumns, type NewNote, type NoteAuthor, notesOfSpaceMax, notesOfTargetMax } from './note.ts';

export interface NotesToStore extends NoteAuthor {
  readonly notes: readonly NewNote[];
  readonly createdAt: Date;
  /** A person, whose notes are in the audit log. The notes of a key say themselves who added them. */
  readonly actor?: Actor | undefined;
}

/**
 * Stores notes whose ids are new: the first one with an id is kept. What they are on need not be stored yet.
 * @returns the ids that were not stored, because their target or the space has as many notes as it may have,
 * or the event was stored once, and has expired or was erased.
 * @throws GrantLostError
 */
export async function storeNotes(
  database: Database,
  spaceId: string,
  { notes: sent, author, authorId, createdAt, actor }: NotesToStore,
): Promise<string[]> {
  const rows = sent.map((note, place) => ({
    ...{ id: note.id, target: note.target, targetId: note.targetId },
    ...contentColumns(note),
    ...{ spaceId, author, authorId, createdAt: createdAt.toISOString(), place },
    eventId: note.target === 'event' ? note.targetId : null,
  }));
  const returned = { id: notes.id, spaceId: notes.spaceId };
  const added = database.$with('added', returned).as(insertFitting(spaceId, JSON.stringify(rows)));
  const action = 'note.add';
  if (actor === undefined) await database.with(added).select().from(added);
  else await runAudited(database, added, { spaceId: added.spaceId, actor, action, target: added.id });
  const ids = rows.map(({ id }) => id);
  const kept = await database
    .select({ id: notes.id })
    .from(notes)
    .where(and(eq(notes.spaceId, spaceId), inArray(notes.id, ids)));
  const keptIds = new Set(kept.map(({ id }) => id));
  return ids.filter((id) => !keptIds.has(id));
}

const stored = {
  ...{ spaceId: notes.spaceId, id: notes.id, target: notes.target, targetId: notes.targetId },
  ...{ label: notes.label, value: notes.value, valueType: notes.valueType, score: notes.score },
  ...{ text: notes.text, author: notes.author, authorId: notes.authorId, createdAt: notes.createdAt },
};

/** Rows whose members are named like the properties of `stored`. */
function insertFitting(spaceId: string, json: string) {
  const space = sql`${spaceId}::uuid`;
  const members = Object.keys(stored).map((name) => sql`${sql.identifier(name)}`);
  const types = Object.values(stored).map(
    (column, at) => sql`${members[at]} ${sql.raw(column.getSQLType())}`,
  );
  const ofTarget = sql`kept.${nameOf(notes.targetId)} = sent."targetId" AND kept.${nameOf(notes.target)} = sent.target`;
  return sql`
  WITH sent AS MATERIALIZED (
    SELECT DISTINCT ON (id) * FROM json_to_recordset(${json}::json)
      AS sent(${listOf(types)}, place integer, "eventId" uuid)
    WHERE ${isNotDeleted(space)} ORDER BY id, place
  ), counted AS MATERIALIZED (
    SELECT ${listOf(members)},
      (SELECT count(*) FROM ${notes} AS kept WHERE kept.${nameOf(notes.spaceId)} = ${space} AND ${ofTarget})
        + row_number() OVER (PARTITION BY sent.target, sent."targetId" ORDER BY place) AS of_target,
      (SELECT count(*) FROM ${notes} AS kept WHERE kept.${nameOf(notes.spaceId)} = ${space})
        + row_number() OVER (ORDER BY place) AS of_space,
      (SELECT count(*) FROM ${eventIds} WHERE ${eventIds.spaceId} = ${space} AND ${eventIds.id} = sent."eventId")
        > (SELECT count(*) FROM ${events} WHERE ${events.spaceId} = ${space} AND ${events.id} = sent."eventId")
        AS is_gone
    FROM sent
  )
  INSERT INTO ${notes} (${namesOf(Object.values(stored))})
  SELECT ${listOf(members)} FROM counted
  WHERE of_target <= ${notesOfTargetMax} AND of_space <= ${notesOfSpaceMax} AND NOT is_gone
  ON CONFLICT DO NOTHING
  RETURNING ${namesOf([notes.id, notes.spaceId])}`;
}
