import { and, eq, getTableName, inArray, or, type SQL } from 'drizzle-orm';
import { inBoundedTransaction } from '../../store/db/bounded-transaction.ts';
import type { Database, Transaction } from '../../store/db/database.ts';
import { events, notes, segments } from '../../store/db/schema.ts';
import type { NoteTarget } from '../../store/notes/note.ts';
import { hasTerms } from '../../store/read/candidate-segments.ts';
import { type EventFilter, matchValues, termsOf } from '../../store/read/event-filter.ts';
import { statisticsTable } from './cluster/cluster-files.ts';
import { countErased, type Erasure } from './erasure-row.ts';

/** The tables whose files have to be rewritten after notes were deleted. */
export const notesTables = [getTableName(notes), statisticsTable];

/** An erased event. */
interface GoneEvent {
  readonly id: string;
  readonly traceId?: string | null;
  readonly threadId?: string | null;
}

/**
 * Deletes the notes on erased events, and on traces and threads of which no event is left, in the transaction
 * that erased them. @returns how many.
 */
export async function eraseNotesOn(
  transaction: Transaction,
  spaceId: string,
  gone: readonly GoneEvent[],
): Promise<number> {
  const isOn = (target: NoteTarget['target'], ids: readonly (string | null | undefined)[]) =>
    and(eq(notes.target, target), inArray(notes.targetId, [...new Set(ids.flatMap((id) => id ?? []))]));
  const noted = await transaction
    .selectDistinct({ target: notes.target, targetId: notes.targetId })
    .from(notes)
    .where(
      and(
        eq(notes.spaceId, spaceId),
        or(
          isOn(
            'event',
            gone.map(({ id }) => id),
          ),
          isOn(
            'trace',
            gone.map(({ traceId }) => traceId),
          ),
          isOn(
            'thread',
            gone.map(({ threadId }) => threadId),
          ),
        ),
      ),
    );
  let erased = 0;
  for (const { target, targetId } of noted) {
    if (target !== 'event' && (await hasEvents(transaction, spaceId, filterOf(target, targetId)))) continue;
    erased += await deleteNotes(transaction, spaceId, isOn(target, [targetId]));
  }
  return erased;
}

/** Deletes the notes on an erased thread that has no events. */
export async function eraseThreadNotes(
  database: Database,
  erasure: Pick<Erasure, 'spaceId' | 'id'>,
  threadId: string,
): Promise<void> {
  const { spaceId } = erasure;
  if (await hasEvents(database, spaceId, { threadId })) return;
  const isOn = and(eq(notes.target, 'thread'), eq(notes.targetId, threadId));
  await inBoundedTransaction(database, async (transaction) => {
    const erased = await deleteNotes(transaction, spaceId, isOn);
    if (erased > 0) await countErased(transaction, erasure, { notes: erased, unwritten: notesTables });
  });
}

function filterOf(target: 'trace' | 'thread', id: string): EventFilter {
  return target === 'trace' ? { traceId: id } : { threadId: id };
}

async function hasEvents(
  database: Database | Transaction,
  spaceId: string,
  filter: EventFilter,
): Promise<boolean> {
  const candidates = database
    .select({ id: segments.id })
    .from(segments)
    .where(and(eq(segments.spaceId, spaceId), hasTerms(spaceId, termsOf(spaceId, filter))));
  const found = await database
    .select({ id: events.id })
    .from(events)
    .where(and(eq(events.spaceId, spaceId), inArray(events.segmentId, candidates), matchValues(filter)))
    .limit(1);
  return found.length > 0;
}

async function deleteNotes(
  transaction: Transaction,
  spaceId: string,
  isOn: SQL | undefined,
): Promise<number> {
  const { count } = await transaction.delete(notes).where(and(eq(notes.spaceId, spaceId), isOn));
  return count;
}
