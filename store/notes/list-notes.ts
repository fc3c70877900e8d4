import { and, asc, count, desc, eq, inArray, isNotNull, or, sql } from 'drizzle-orm';
import { z } from 'zod';
import { quoteElement, storableText } from '../../event/text.ts';
import type { Database } from '../db/database.ts';
import { apiKeys, notes, users } from '../db/schema.ts';
import { startsFolded } from '../read/folded-text.ts';
import { type NoteRow, type NoteTarget, sentValueOf } from './note.ts';

/** A note as it is shown and exported. */
export const shownNote = z
  .object({
    id: z.guid(),
    /** What it is on, and the id of that. */
    target: z.enum(notes.target.enumValues),
    targetId: z.string(),
    label: z.string().nullable(),
    value: z.union([z.string(), z.number(), z.boolean()]).nullable(),
    /** The number that is compared: that of the value, or of an evaluation with a text and a number. */
    score: z.number().nullable(),
    text: z.string().nullable(),
    author: z.enum(notes.author.enumValues),
    /** The id of the user or the API key. */
    authorId: z.guid(),
    /** The name of the key, or the e-mail address of the user, which members see; else null. */
    authorName: z.string().nullable(),
    createdAt: z.iso.datetime(),
    changedAt: z.iso.datetime().nullable(),
  })
  .meta({ id: 'Note' });
export type ShownNote = z.infer<typeof shownNote>;

/** The notes on these targets, the oldest first. */
export async function listNotes(
  database: Database,
  spaceId: string,
  { targets, withMembers = false }: { targets: readonly NoteTarget[]; withMembers?: boolean },
): Promise<ShownNote[]> {
  if (targets.length === 0) return [];
  const byTarget = Map.groupBy(targets, ({ target }) => target);
  const isOn = Array.from(byTarget, ([target, own]) => {
    // One parameter: an export asks for those of thousands.
    const ids = [...new Set(own.map(({ targetId }) => quoteElement(targetId)))];
    return and(eq(notes.target, target), sql`${notes.targetId} = ANY (${`{${ids.join()}}`}::text[])`);
  });
  const rows = await database
    .select()
    .from(notes)
    .where(and(eq(notes.spaceId, spaceId), or(...isOn)))
    .orderBy(asc(notes.createdAt), asc(notes.id));
  const names = await readNames(database, rows, withMembers);
  return rows.map((row) => ({
    ...{ id: row.id, target: row.target, targetId: row.targetId, label: row.label, text: row.text },
    value: sentValueOf(row),
    score: row.score,
    ...{ author: row.author, authorId: row.authorId, authorName: names.get(row.authorId) ?? null },
    createdAt: row.createdAt.toISOString(),
    changedAt: row.changedAt?.toISOString() ?? null,
  }));
}

/** An event, as its notes are found. */
export interface NotedEvent {
  readonly id: string;
  readonly traceId: string | null;
  readonly threadId: string | null;
}

/** The notes on each of these events, its trace and its thread, without names of members. */
export async function readNotesOf(
  database: Database,
  spaceId: string,
  rows: readonly NotedEvent[],
): Promise<ShownNote[][]> {
  const targets = rows.map(targetsOf);
  const found = await listNotes(database, spaceId, { targets: targets.flat() });
  const byTarget = Map.groupBy(found, keyOf);
  return targets.map((own) => own.flatMap((target) => byTarget.get(keyOf(target)) ?? []));
}

function targetsOf({ id, traceId, threadId }: NotedEvent): NoteTarget[] {
  return [
    { target: 'event', targetId: id },
    ...(traceId === null ? [] : [{ target: 'trace' as const, targetId: traceId }]),
    ...(threadId === null ? [] : [{ target: 'thread' as const, targetId: threadId }]),
  ];
}

function keyOf({ target, targetId }: NoteTarget): string {
  return `${target} ${targetId}`;
}

/** In statements of their own: on Citus accounts are on the coordinator, and notes are not. */
async function readNames(database: Database, rows: readonly NoteRow[], withMembers: boolean) {
  const idsOf = (author: NoteRow['author']) => [
    ...new Set(rows.flatMap((row) => (row.author === author ? row.authorId : []))),
  ];
  const [userIds, keyIds] = [withMembers ? idsOf('user') : [], idsOf('key')];
  const [ofUsers, ofKeys] = await Promise.all([
    userIds.length === 0
      ? []
      : database.select({ id: users.id, name: users.email }).from(users).where(inArray(users.id, userIds)),
    keyIds.length === 0
      ? []
      : database
          .select({ id: apiKeys.id, name: apiKeys.name })
          .from(apiKeys)
          .where(inArray(apiKeys.id, keyIds)),
  ]);
  return new Map([...ofUsers, ...ofKeys].map(({ id, name }) => [id, name]));
}

/**
 * The labels that begin with a text, ignoring case, with the number of their notes, the most frequent first.
 */
export async function countLabels(
  database: Database,
  spaceId: string,
  { prefix, labelsMax }: { prefix: string; labelsMax: number },
): Promise<{ label: string; notes: number }[]> {
  const begins = startsFolded(notes.label, storableText(prefix));
  const rows = await database
    .select({ label: notes.label, notes: count() })
    .from(notes)
    .where(and(eq(notes.spaceId, spaceId), isNotNull(notes.label), begins))
    .groupBy(notes.label)
    .orderBy(desc(count()), asc(notes.label))
    .limit(labelsMax);
  return rows.map(({ label, notes }) => ({ label: label ?? '', notes }));
}
