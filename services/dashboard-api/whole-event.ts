import type { Sql } from '../../lib/db/connect.ts';
import { readEventTexts } from '../../lib/segment/read.ts';
import { eventColumns, type ListedEvent, type StoredEventRow, showEvent } from './event-row.ts';

/** An event as it is shown when somebody opens it. */
export interface WholeEvent extends ListedEvent {
  /** The event exactly as it was sent, as JSON text: parsed, its 64-bit integers would be rounded. */
  event: string;
}

/** @returns undefined when the space has no such event. */
export async function readWholeEvent(sql: Sql, spaceId: string, id: string): Promise<WholeEvent | undefined> {
  const [row] = await sql<(StoredEventRow & { segmentId: string; segmentIndex: number })[]>`
    SELECT ${eventColumns(sql)}, segment_id AS "segmentId", segment_index AS "segmentIndex"
    FROM events WHERE space_id = ${spaceId} AND id = ${id}`;
  if (row === undefined) return undefined;
  const { segmentId, segmentIndex, ...columns } = row;
  const [event] = await readEventTexts(sql, spaceId, [{ segmentId, segmentIndex }]);
  // The writer stores both in one statement: a row without its segment is damage, not absence.
  if (event === undefined) throw new Error(`segment ${segmentId} has no event ${segmentIndex}`);
  return { ...showEvent(columns), event };
}
