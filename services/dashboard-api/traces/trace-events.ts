import { pick } from '../../../platform/pick.ts';
import type { Database } from '../../../store/db/database.ts';
import { events } from '../../../store/db/schema.ts';
import type { EventCursor } from '../../../store/read/event-cursor.ts';
import { readEventPage } from '../../../store/read/event-page.ts';
import { type ListedRow, listedColumns } from '../events/listed-event.ts';
import { traceEventCharsMax, traceEventsMax, tracePagesMax, traceRowsAtOnce } from './limits.ts';

export interface TraceRow extends ListedRow {
  segmentId: string;
  segmentIndex: number;
  attributes: Record<string, string | number> | null;
}

const columns = {
  ...listedColumns,
  ...pick(events, 'segmentId', 'segmentIndex', 'attributes'),
};

/** Reads the events of a trace, at most {@link traceEventsMax} with {@link traceEventCharsMax} characters. */
export async function readTraceRows(database: Database, spaceId: string, traceId: string) {
  const rows: TraceRow[] = [];
  let after: EventCursor | undefined;
  for (let page = 0; page < tracePagesMax; page++) {
    const limit = Math.min(traceRowsAtOnce, traceEventsMax - rows.length);
    const found = await readEventPage(database, spaceId, { columns, filter: { traceId }, after, limit });
    rows.push(...found.rows);
    after = found.next;
    if (after === undefined || rows.length >= traceEventsMax) break;
  }
  const shown = takeWithin(rows, traceEventCharsMax);
  const isComplete = after === undefined && shown.length === rows.length;
  return {
    /** In time order: by start, longer events first. */
    rows: shown.toSorted(compareInTime),
    /** Whether the trace has no more events. If false, these are the newest. */
    isComplete,
  };
}

/** The first items, as long as their texts have at most this many characters. */
export function takeWithin<Item extends object>(items: readonly Item[], charsMax: number): Item[] {
  let chars = 0;
  const end = items.findIndex((item) => {
    for (const value of Object.values(item)) if (typeof value === 'string') chars += value.length;
    return chars > charsMax;
  });
  return items.slice(0, end === -1 ? items.length : end);
}

/** Compares starts; of equal ones the longer event comes first, since it may contain the other. */
export function compareInTime(a: TraceRow, b: TraceRow): number {
  return a.startTimeMs - b.startTimeMs || endOf(b) - endOf(a) || (a.id < b.id ? -1 : 1);
}

/** The start if the event claims to have ended before it began. */
export function endOf({ startTimeMs, endTimeMs, durationMs }: TraceRow): number {
  return endTimeMs >= startTimeMs ? endTimeMs : startTimeMs + Math.max(0, durationMs);
}
