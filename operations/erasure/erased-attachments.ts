import { and, eq, getTableName, inArray, not, or, type SQL, sql } from 'drizzle-orm';
import { inBoundedTransaction } from '../../store/db/bounded-transaction.ts';
import type { Database, Transaction } from '../../store/db/database.ts';
import { events, media, mediaUses, notes, segments, traceNodes } from '../../store/db/schema.ts';
import { deleteUses } from '../../store/media/delete-uses.ts';
import { isOnEventIn } from '../../store/notes/expired-notes.ts';
import type { NotedEvent } from '../../store/notes/list-notes.ts';
import type { NoteTarget } from '../../store/notes/note.ts';
import { hasTerms } from '../../store/read/candidate-segments.ts';
import { type EventFilter, matchValues, termsOf } from '../../store/read/event-filter.ts';
import { statisticsTable } from './cluster/cluster-files.ts';
import { findMerged } from './erased-record.ts';
import { countErased, type Erasure } from './erasure-row.ts';

/** The tables whose files have to be rewritten after notes, or media, were deleted. */
const notesTables = [getTableName(notes), statisticsTable];
export const mediaTables = [getTableName(media), getTableName(mediaUses), statisticsTable];

/** An erased event, or what is known of it. */
export type GoneEvent = Partial<NotedEvent>;

/** The notes and the media that were erased with events. */
export type ErasedAttachments = Awaited<ReturnType<typeof eraseAttached>>;

/**
 * Deletes the notes on erased events, and on traces and threads of which no event is left, and the media that
 * only these used, in the transaction that erased them.
 */
export async function eraseAttached(transaction: Transaction, spaceId: string, gone: readonly GoneEvent[]) {
  const notes = await eraseNotesOn(transaction, spaceId, gone);
  const { mediaIds, useIds } = await eraseMediaOf(transaction, spaceId, gone);
  const unwritten = [...(notes > 0 ? notesTables : []), ...(useIds.length > 0 ? mediaTables : [])];
  return {
    counts: { notes, media: mediaIds.length },
    mediaIds,
    /** Ids of uses of media in the ledger. */
    useIds,
    /** The tables whose files have to be rewritten. */
    unwritten,
  };
}

/** Deletes the uses of media by erased events, and by other spans of traces of which no event is left. */
async function eraseMediaOf(transaction: Transaction, spaceId: string, gone: readonly GoneEvent[]) {
  const ids = gone.flatMap(({ id }) => id ?? []);
  const traceIds = [...new Set(gone.flatMap(({ traceId }) => traceId ?? []))];
  const used = await transaction
    .selectDistinct({ traceId: mediaUses.traceId })
    .from(mediaUses)
    .where(and(eq(mediaUses.spaceId, spaceId), inArray(mediaUses.traceId, traceIds)));
  const ended: string[] = [];
  for (const { traceId } of used)
    if (!(await hasEvents(transaction, spaceId, { traceId }))) ended.push(traceId);
  const eventIds = [...ids, ...(await findMerged(transaction, spaceId, ids))];
  // The text of an array: events may have more merged spans than a statement may have parameters.
  const ofEvents = sql`${mediaUses.eventId} = ANY (${`{${eventIds.join()}}`}::uuid[])`;
  const ofEnded = and(inArray(mediaUses.traceId, ended), sql`NOT ${isMerged(spaceId)}`);
  return deleteUses(transaction, spaceId, or(ofEvents, ofEnded));
}

/** The condition that the event of a use was merged into another one, which may be of another trace. */
function isMerged(spaceId: string): SQL {
  const { traceId, eventId, mergedEventId } = traceNodes;
  return sql`EXISTS (SELECT FROM ${traceNodes} WHERE ${eq(traceNodes.spaceId, spaceId)}
    AND ${eq(traceId, mediaUses.traceId)} AND ${eq(eventId, mediaUses.eventId)} AND ${mergedEventId} IS NOT NULL)`;
}

async function eraseNotesOn(
  transaction: Transaction,
  spaceId: string,
  gone: readonly GoneEvent[],
): Promise<number> {
  const idsOf = (name: keyof GoneEvent) => [...new Set(gone.flatMap((event) => event[name] ?? []))];
  let erased = await deleteNotes(transaction, spaceId, isOn('event', idsOf('id')));
  const placed = { trace: idsOf('traceId'), thread: idsOf('threadId') };
  for (const target of ['trace', 'thread'] as const) {
    const areOn = (ids: readonly string[]) =>
      target === 'thread' ? isOn('thread', ids) : or(isOn('trace', ids), waitFor(spaceId, ids));
    const noted = await transaction
      .selectDistinct({ id: sql<string>`coalesce(${notes.traceId}::text, ${notes.targetId})` })
      .from(notes)
      .where(and(eq(notes.spaceId, spaceId), areOn(placed[target])));
    for (const { id } of noted)
      if (!(await hasEvents(transaction, spaceId, filterOf(target, id))))
        erased += await deleteNotes(transaction, spaceId, areOn([id]));
  }
  return erased;
}

function isOn(target: NoteTarget['target'], ids: readonly string[]): SQL | undefined {
  return and(eq(notes.target, target), inArray(notes.targetId, [...ids]));
}

/** Notes on spans that are not known to be no calls yet: then they will be on their trace. */
function waitFor(spaceId: string, traceIds: readonly string[]): SQL | undefined {
  return and(inArray(notes.traceId, [...traceIds]), not(isOnEventIn(events, spaceId)));
}

/** Deletes the notes on an erased thread that has no events. */
export async function eraseThreadNotes(
  database: Database,
  erasure: Pick<Erasure, 'spaceId' | 'id'>,
  threadId: string,
): Promise<void> {
  const { spaceId } = erasure;
  if (await hasEvents(database, spaceId, { threadId })) return;
  await inBoundedTransaction(database, async (transaction) => {
    const erased = await deleteNotes(transaction, spaceId, isOn('thread', [threadId]));
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
  areOn: SQL | undefined,
): Promise<number> {
  const { count } = await transaction.delete(notes).where(and(eq(notes.spaceId, spaceId), areOn));
  return count;
}
