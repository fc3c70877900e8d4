import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import { events } from '../../../store/db/schema.ts';
import { readNotesOf, shownNote } from '../../../store/notes/list-notes.ts';
import { isEventStored } from '../../../store/read/event-existence.ts';
import { readEventTexts } from '../../../store/segments/read.ts';
import { costReason, explainCost } from '../charts/cost-reason.ts';
import type { SpaceRows, SpaceTexts } from '../space-data.ts';
import { listedColumns, listedEvent, showEvents } from './listed-event.ts';
import { correctParents } from './parent-texts.ts';

export const wholeEvent = listedEvent
  .extend({
    /**
     * JSON text exactly as sent, since parsing would round 64-bit integers, but with the parent known now.
     */
    event: z.string(),
    /** How the cost came about; null for a tool call. */
    costReason: costReason.nullable(),
    /** Notes on the event, its trace and its thread. */
    notes: z.array(shownNote),
  })
  .meta({ id: 'WholeEvent' });
export type WholeEvent = z.infer<typeof wholeEvent>;

/** @returns undefined when the space has no such event. */
export async function readWholeEvent(
  { database, spaceId, openingLimiter }: SpaceTexts,
  id: string,
): Promise<WholeEvent | undefined> {
  return openingLimiter(() => openEvent({ database, spaceId }, id));
}

async function openEvent({ database, spaceId }: SpaceRows, id: string): Promise<WholeEvent | undefined> {
  const [row] = await database
    .select({
      ...listedColumns,
      ...{ attributes: events.attributes, segmentId: events.segmentId, segmentIndex: events.segmentIndex },
    })
    .from(events)
    .where(and(eq(events.spaceId, spaceId), eq(events.id, id)))
    .prepare('whole_event')
    .execute();
  if (row === undefined) return undefined;
  const { attributes: _attributes, segmentId, segmentIndex, ...columns } = row;
  const [text] = await readEventTexts(database, spaceId, [{ segmentId, segmentIndex }]);
  if (text === undefined) {
    // The event may have expired between the two statements.
    if (!(await isEventStored(database, spaceId, id))) return undefined;
    // The writer stores both in one statement, so a row without its segment means damaged data.
    throw new Error(`segment ${segmentId} has no event ${segmentIndex}`);
  }
  const [shown] = await showEvents(database, spaceId, [columns]);
  const [[, event] = [row, text]] = await correctParents(database, spaceId, [[row, text]]);
  const reason = await explainCost(database, spaceId, columns);
  const [notes = []] = await readNotesOf(database, spaceId, [columns]);
  return shown && { ...shown, event, costReason: reason, notes };
}
