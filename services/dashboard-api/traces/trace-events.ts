import type { Database } from '../../../store/db/database.ts';
import { events } from '../../../store/db/schema.ts';
import type { EventCursor } from '../../../store/read/event-cursor.ts';
import { readEventPage } from '../../../store/read/event-page.ts';
import { type ListedRow, listedColumns } from '../events/listed-event.ts';
import { traceEventsMax, tracePagesMax } from '../limits.ts';

/** A row of a trace's event. */
export interface TraceRow extends ListedRow {
  segmentId: string;
  segmentIndex: number;
  attributes: Record<string, string | number> | null;
}

export interface TraceRows {
  /** In time order: by start, longer events first. */
  rows: TraceRow[];
  /** Whether the trace has no more events. If false, these are the newest. */
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

/** Compares by start; of events with equal starts the longer one comes first, since it may contain the other. */
export function compareInTime(a: TraceRow, b: TraceRow): number {
  return a.startTimeMs - b.startTimeMs || endOf(b) - endOf(a) || (a.id < b.id ? -1 : 1);
}

/** The end of an event, or its start if it claims to have ended before it began. */
export function endOf({ startTimeMs, endTimeMs, durationMs }: TraceRow): number {
  return endTimeMs >= startTimeMs ? endTimeMs : startTimeMs + Math.max(0, durationMs);
}
