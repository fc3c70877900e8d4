import { and, eq, inArray, is, SQL, sql } from 'drizzle-orm';
import { spanProperty } from '../../event/attributes.ts';
import { type Actor, runAudited } from '../accounts/audit/audit.ts';
import type { Database } from '../db/database.ts';
import { isNotDeleted } from '../db/deleted-spaces.ts';
import { eventIds, events, notes, traceNodes, traces } from '../db/schema.ts';
import { listOf, nameOf, namesOf } from '../db/statement.ts';
import { isNodeOf, ofNode } from './evaluated-span.ts';
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
    ...{ id: note.id, target: note.target, targetId: note.targetId, ...note.span },
    ...contentColumns(note),
    ...{ author, authorId, createdAt: createdAt.toISOString(), place },
  }));
  const returned = { id: notes.id, spaceId: notes.spaceId, traceId: notes.traceId };
  const added = database.$with('added', returned).as(insertFitting(spaceId, JSON.stringify(rows)));
  const noted = database.$with('noted', {}).as(noteTraces(spaceId, createdAt));
  const action = 'note.add';
  if (actor === undefined) await database.with(added, noted).select().from(added);
  else {
    const entry = { spaceId: added.spaceId, actor, action, target: added.id };
    await runAudited(database, added, { ...entry, after: [noted] });
  }
  const ids = rows.map(({ id }) => id);
  const kept = await database
    .select({ id: notes.id })
    .from(notes)
    .where(and(eq(notes.spaceId, spaceId), inArray(notes.id, ids)));
  const keptIds = new Set(kept.map(({ id }) => id));
  return ids.filter((id) => !keptIds.has(id));
}

const stored = {
  ...{ id: notes.id, target: notes.target, targetId: notes.targetId },
  ...{ label: notes.label, value: notes.value, valueType: notes.valueType, score: notes.score },
  ...{ text: notes.text, author: notes.author, authorId: notes.authorId, createdAt: notes.createdAt },
  ...{ traceId: notes.traceId, spanId: notes.spanId },
};

/** Rows whose members are named like the properties of `stored`. */
function insertFitting(spaceId: string, json: string) {
  const space = sql`${spaceId}::uuid`;
  const members = Object.keys(stored).map((name) => sql`${sql.identifier(name)}`);
  const types = Object.values(stored).map(
    (column, at) => sql`${members[at]} ${sql.raw(column.getSQLType())}`,
  );
  const placed = Object.entries({ ...stored, ...ofNode }).map(([name, value]) => {
    const member = sql`sent.${sql.identifier(name)}`;
    return is(value, SQL) ? sql`coalesce(${value}, ${member}) AS ${sql.identifier(name)}` : member;
  });
  const ofTarget = sql`kept.${nameOf(notes.targetId)} = placed."targetId" AND kept.${nameOf(notes.target)} = placed.target`;
  const eventId = sql`CASE WHEN placed.target = 'event' THEN placed."targetId"::uuid END`;
  return sql`
  WITH sent AS MATERIALIZED (
    SELECT DISTINCT ON (id) * FROM json_to_recordset(${json}::json) AS sent(${listOf(types)}, place integer)
    WHERE ${isNotDeleted(space)} ORDER BY id, place
  ), counted AS MATERIALIZED (
    SELECT ${listOf(members)},
      (SELECT count(*) FROM ${notes} AS kept WHERE kept.${nameOf(notes.spaceId)} = ${space} AND ${ofTarget})
        + row_number() OVER (PARTITION BY placed.target, placed."targetId" ORDER BY place) AS of_target,
      (SELECT count(*) FROM ${notes} AS kept WHERE kept.${nameOf(notes.spaceId)} = ${space})
        + row_number() OVER (ORDER BY place) AS of_space,
      (SELECT count(*) FROM ${eventIds} WHERE ${eventIds.spaceId} = ${space} AND ${eventIds.id} = ${eventId})
        > (SELECT count(*) FROM ${events} WHERE ${events.spaceId} = ${space} AND ${events.id} = ${eventId})
        AS is_gone
    -- Not in another CTE, which Citus would run before, and read a call from before its merge.
    FROM (SELECT ${listOf(placed)}, place FROM ${withNodes(space)}) AS placed
  )
  INSERT INTO ${notes} (${namesOf([notes.spaceId, ...Object.values(stored)])})
  SELECT ${space}, ${listOf(members)} FROM counted
  WHERE of_target <= ${notesOfTargetMax} AND of_space <= ${notesOfSpaceMax} AND NOT is_gone
  ON CONFLICT DO NOTHING
  RETURNING ${namesOf([notes.id, notes.spaceId, notes.traceId])}`;
}

/** The rows `sent`, each with the evaluated span or that of its event, looked up one by one by their keys. */
function withNodes(space: SQL): SQL {
  const { spaceId, id, traceId, attributes } = events;
  const isOnEvent = sql`sent."spanId" IS NULL AND sent.target = 'event'`;
  const span = {
    traceId: sql`coalesce(sent."traceId", event.${nameOf(traceId)})`,
    spanId: sql`coalesce(sent."spanId", event.${nameOf(traceNodes.spanId)})`,
  };
  return sql`sent LEFT JOIN LATERAL (
    SELECT ${id}, ${traceId}, ${attributes} ->> ${spanProperty}::text AS ${nameOf(traceNodes.spanId)} FROM ${events}
    WHERE ${spaceId} = ${space} AND ${id} = CASE WHEN ${isOnEvent} THEN sent."targetId"::uuid END LIMIT 1
  ) AS event ON true LEFT JOIN LATERAL (
    SELECT * FROM ${traceNodes} AS node WHERE ${isNodeOf(space, span)}
      AND (event.${nameOf(id)} IS NULL OR node.${nameOf(traceNodes.eventId)} = event.${nameOf(id)}) LIMIT 1
  ) AS node ON true`;
}

/**
 * The traces of added notes on spans become unresolved, also one of which no span is stored yet: it has a row
 * without spans. A resolver that has read a trace before does not change it any more, and reads it again.
 */
function noteTraces(spaceId: string, receivedAt: Date): SQL {
  const { traceId, version, unresolvedSince, spans, hasCalls } = traces;
  const received = sql`${receivedAt.toISOString()}::timestamptz`;
  const key = [traces.spaceId, traceId];
  return sql`
  INSERT INTO ${traces} AS kept (${namesOf([...key, version, unresolvedSince, spans, hasCalls, traces.receivedAt])})
  SELECT DISTINCT ${spaceId}::uuid, ${nameOf(traceId)}, 1, ${received}, 0, false, ${received}
  FROM added WHERE ${nameOf(notes.traceId)} IS NOT NULL ORDER BY ${nameOf(traceId)}
  ON CONFLICT (${namesOf(key)}) DO UPDATE SET ${nameOf(version)} = kept.${nameOf(version)} + 1,
    ${nameOf(unresolvedSince)} = coalesce(kept.${nameOf(unresolvedSince)}, excluded.${nameOf(unresolvedSince)})
  RETURNING ${nameOf(traceId)}`;
}
