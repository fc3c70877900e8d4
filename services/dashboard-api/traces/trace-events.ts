import type { Database } from '../../../lib/db/database.ts';
import { events } from '../../../lib/db/schema.ts';
import type { EventCursor } from '../../../lib/read/event-cursor.ts';
import { readEventPage } from '../../../lib/read/event-page.ts';
import { type ListedRow, listedColumns } from '../events/listed-event.ts';
import { traceEventsMax, tracePagesMax } from '../limits.ts';

/** An event of a trace, as it is read. */
export interface TraceRow extends ListedRow {
  segmentId: string;
  segmentIndex: number;
  attributes: Record<string, string | number> | null;
}

export interface TraceRows {
  /** In order of time: by start, the longer event first. */
  rows: TraceRow[];
  /** Whether these are all. If not, they are the newest. */
  isComplete: boolean;
}

const columns = {
  ...listedColumns,
  segmentId: events.segmentId,
  segmentIndex: events.segmentIndex,
  attributes: events.attributes,
};

/** Reads the events of a trace, at most {@link traceEventsMax}. */
export async function readTraceRows(
  database: Database,
  spaceId: string,
  traceId: string,
): Promise<TraceRows> {
  const rows: TraceRow[] = [];
  let after: EventCursor | undefined;
  for (let page = 0; page < tracePagesMax; page++) {
    const limit = traceEventsMax - rows.length;
    const found = await readEventPage(database, spaceId, columns, { filter: { traceId }, after, limit });
    rows.push(...found.rows);
    after = found.next;
    if (after === undefined || rows.length >= traceEventsMax) break;
  }
  return { rows: rows.toSorted(compareInTime), isComplete: after === undefined };
}

/** By start; of events that start together the longer one first, since it may contain the other. */
export function compareInTime(a: TraceRow, b: TraceRow): number {
  return a.startTimeMs - b.startTimeMs || endOf(b) - endOf(a) || (a.id < b.id ? -1 : 1);
}

/** When an event ended, also where it says that it ended before it began. */
export function endOf({ startTimeMs, endTimeMs, durationMs }: TraceRow): number {
  return endTimeMs >= startTimeMs ? endTimeMs : startTimeMs + Math.max(0, durationMs);
}
