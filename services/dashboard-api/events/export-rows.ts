import type { Database } from '../../../lib/db/database.ts';
import { events } from '../../../lib/db/schema.ts';
import type { EventCursor } from '../../../lib/read/event-cursor.ts';
import { isEventStored } from '../../../lib/read/event-existence.ts';
import type { EventFilter } from '../../../lib/read/event-filter.ts';
import { readEventPage } from '../../../lib/read/event-page.ts';
import { listLimits } from '../../../lib/read/limits.ts';
import { EventTextsTooLargeError, readEventTexts } from '../../../lib/segment/read.ts';
import { exportPageEvents, exportTextCharsMax } from '../limits.ts';
import { type ListedEvent, listedColumns, showEvent } from './listed-event.ts';

/** An event of an export: its columns, with all that is kept of its additional properties. */
export interface ExportedEvent extends ListedEvent {
  attributes: Record<string, string | number> | null;
}

const columns = {
  ...listedColumns,
  attributes: events.attributes,
  segmentId: events.segmentId,
  segmentIndex: events.segmentIndex,
};

type ExportRow = Awaited<ReturnType<typeof readPage>>['rows'][number];

/** Examines more events in order of time at once than a list: an export reads on, whatever it finds. */
const exportLimits = { ...listLimits, firstWalkEvents: 5_000 };

function readPage(database: Database, spaceId: string, query: PageQuery) {
  return readEventPage(database, spaceId, columns, query, exportLimits);
}

interface PageQuery {
  filter: EventFilter;
  after: EventCursor | undefined;
  limit: number;
}

/**
 * Reads all events of a filter, newest first, a page at a time: the next page is read when the one before was taken. Each
 * event that was stored when the export began comes exactly once; one that is stored meanwhile comes once or not at all.
 */
export async function* exportEvents(
  database: Database,
  spaceId: string,
  filter: EventFilter,
): AsyncGenerator<ExportedEvent[]> {
  for await (const rows of readRows(database, spaceId, filter)) yield rows.map(showRow);
}

/** As {@link exportEvents}, the events as they were sent, a line of JSON each. */
export async function* exportTexts(
  database: Database,
  spaceId: string,
  filter: EventFilter,
): AsyncGenerator<string[]> {
  for await (const rows of readRows(database, spaceId, filter)) {
    let from = 0;
    let count = rows.length;
    while (from < rows.length) {
      const some = rows.slice(from, from + count);
      const lines = await readLines(database, spaceId, some);
      if (lines === undefined) {
        count = Math.ceil(some.length / 2);
        continue;
      }
      yield lines;
      from += some.length;
    }
  }
}

async function* readRows(
  database: Database,
  spaceId: string,
  filter: EventFilter,
): AsyncGenerator<ExportRow[]> {
  let after: EventCursor | undefined;
  do {
    const page = await readPage(database, spaceId, { filter, after, limit: exportPageEvents });
    after = page.next;
    if (page.rows.length > 0) yield page.rows;
  } while (after !== undefined);
}

function showRow({
  segmentId: _segment,
  segmentIndex: _index,
  attributes,
  ...row
}: ExportRow): ExportedEvent {
  return { ...showEvent(row), attributes };
}

/** @returns undefined when the texts together are too long. A single event is always read. */
async function readLines(
  database: Database,
  spaceId: string,
  rows: readonly ExportRow[],
): Promise<string[] | undefined> {
  const charsMax = rows.length === 1 ? Number.POSITIVE_INFINITY : exportTextCharsMax;
  try {
    const texts = await readEventTexts(database, spaceId, rows, { charsMax });
    const lines: string[] = [];
    for (const [place, row] of rows.entries()) {
      const text = texts[place];
      // Line breaks of a pretty-printed event are between tokens: inside a string JSON escapes them.
      if (text !== undefined) lines.push(text.replaceAll(/[\r\n]/g, ' '));
      // It may have expired since its row was read. Otherwise the data is damaged.
      else if (await isEventStored(database, spaceId, row.id)) {
        throw new Error(`The segment of event ${row.id} is missing.`);
      }
    }
    return lines;
  } catch (error) {
    if (error instanceof EventTextsTooLargeError) return undefined;
    throw error;
  }
}
