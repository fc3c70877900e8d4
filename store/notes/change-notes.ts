import { and, eq, type SQL, sql } from 'drizzle-orm';
import { type Actor, runAudited, withLeastRole } from '../accounts/audit/audit.ts';
import type { Database } from '../db/database.ts';
import { notes } from '../db/schema.ts';
import { contentColumns, type NoteContent } from './note.ts';

export interface NoteChange {
  readonly id: string;
  readonly actor: Actor;
  /** Whether the note may be another author's, which needs the role admin. */
  readonly isOfOthers: boolean;
}

const returned = { id: notes.id, spaceId: notes.spaceId };

/**
 * Replaces what a note says.
 * @returns whether the space has such a note of the actor.
 * @throws GrantLostError
 */
export async function changeNote(
  database: Database,
  spaceId: string,
  { content, ...change }: NoteChange & { content: NoteContent },
): Promise<boolean> {
  const changed = database.$with('changed').as(
    database
      .update(notes)
      .set({ ...contentColumns(content), changedAt: sql`now()` })
      .where(isNote(spaceId, change))
      .returning(returned),
  );
  const entry = { spaceId: changed.spaceId, action: 'note.change', target: changed.id };
  return (await runAudited(database, changed, { ...entry, actor: actorOf(change) })).length > 0;
}

/** Removes a note, as {@link changeNote}. */
export async function removeNote(database: Database, spaceId: string, change: NoteChange): Promise<boolean> {
  const removed = database
    .$with('removed')
    .as(database.delete(notes).where(isNote(spaceId, change)).returning(returned));
  const entry = { spaceId: removed.spaceId, action: 'note.remove', target: removed.id };
  return (await runAudited(database, removed, { ...entry, actor: actorOf(change) })).length > 0;
}

function isNote(spaceId: string, { id, actor, isOfOthers }: NoteChange): SQL | undefined {
  return and(
    eq(notes.spaceId, spaceId),
    eq(notes.id, id),
    isOfOthers ? undefined : and(eq(notes.author, 'user'), eq(notes.authorId, actor.id)),
  );
}

function actorOf({ actor, isOfOthers }: NoteChange): Actor {
  return isOfOthers ? withLeastRole(actor, 'admin') : actor;
}
