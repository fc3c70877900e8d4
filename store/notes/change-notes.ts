import { and, eq, type SQL, sql } from 'drizzle-orm';
import { type Actor, auditChange, withLeastRole } from '../accounts/audit/audit.ts';
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
  const changing = database
    .update(notes)
    .set({ ...contentColumns(content), changedAt: sql`now()` })
    .where(isNote(spaceId, change))
    .returning(returned);
  return (
    (await auditChange(database, changing, { actor: actorOf(change), action: 'note.change' })).length > 0
  );
}

/** Removes a note, as {@link changeNote}. */
export async function removeNote(database: Database, spaceId: string, change: NoteChange): Promise<boolean> {
  const removal = database.delete(notes).where(isNote(spaceId, change)).returning(returned);
  return (await auditChange(database, removal, { actor: actorOf(change), action: 'note.remove' })).length > 0;
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
