import type { Database } from '../../../lib/db/database.ts';
import { events } from '../../../lib/db/schema.ts';
import type { Limiter } from '../../../lib/limiter.ts';
import type { EventCursor } from '../../../lib/read/event-cursor.ts';
import { isEventStored } from '../../../lib/read/event-existence.ts';
import type { EventFilter } from '../../../lib/read/event-filter.ts';
import { type EventPage, type EventPageQuery, readEventPage } from '../../../lib/read/event-page.ts';
import type { EventRow } from '../../../lib/read/event-rows.ts';
import { listLimits } from '../../../lib/read/limits.ts';
import { EventTextsTooLargeError, readEventTexts } from '../../../lib/segment/read.ts';
import { exportPageEvents, exportTextCharsMax } from '../limits.ts';
import { type ListedEvent, listedColumns, showEvent } from './listed-event.ts';

/** An event of an export: its columns, with all that is kept of its additional properties. */
export interface ExportedEvent extends ListedEvent {
  attributes: Record<string, string | number> | null;
}

const shownColumns = { ...listedColumns, attributes: events.attributes };

/** Where the text of an event is. */
const textColumns = {
  id: events.id,
  startTimeMs: events.startTimeMs,
  segmentId: events.segmentId,
  segmentIndex: events.segmentIndex,
};

/** Examines more events in order of time at once than a list: an export reads on, whatever it finds. */
const exportLimits = { ...listLimits, firstWalkEvents: 5_000 };

/**
 * Reads all events of a filter, newest first, a page at a time, and one page ahead. Each event that was stored when the export
 * began comes exactly once; one that is stored meanwhile comes once or not at all.
 */
export async function* exportEvents(
  database: Database,
  spaceId: string,
  filter: EventFilter,
): AsyncGenerator<ExportedEvent[]> {
  const pages = readPages(
    (query) => readEventPage(database, spaceId, shownColumns, query, exportLimits),
    filter,
  );
  for await (const rows of pages) yield rows.map(showEvent);
}

/** As {@link exportEvents}, the events as they were sent, a line of JSON each. */
export async function* exportTexts(
  { database, openingLimiter }: { database: Database; openingLimiter: Limiter },
  spaceId: string,
  filter: EventFilter,
): AsyncGenerator<string[]> {
  const pages = readPages(
    (query) => readEventPage(database, spaceId, textColumns, query, exportLimits),
    filter,
  );
  for await (const rows of pages) {
    let from = 0;
    let count = rows.length;
    while (from < rows.length) {
      const some = rows.slice(from, from + count);
      const lines = await openingLimiter(() => readLines(database, spaceId, some));
      if (lines === undefined) {
        count = Math.ceil(some.length / 2);
        continue;
      }
      yield lines;
      from += some.length;
    }
  }
}

async function* readPages<Row>(
  readPage: (query: EventPageQuery) => Promise<EventPage<Row>>,
  filter: EventFilter,
): AsyncGenerator<Row[]> {
  const read = (after: EventCursor | undefined) => {
    const page = readPage({ filter, after, limit: exportPageEvents });
    // It may fail while the page before is written, or after the client has left: whoever awaits it is told.
    page.catch(() => {});
    return page;
  };
  for (let page = read(undefined), isLast = false; !isLast; ) {
    const { rows, next } = await page;
    isLast = next === undefined;
    // Postgres reads the next page while this one is written.
    if (!isLast) page = read(next);
    if (rows.length > 0) yield rows;
  }
}

/** @returns undefined when the texts together are too long. A single event is always read. */
async function readLines(
  database: Database,
  spaceId: string,
  rows: readonly EventRow<typeof textColumns>[],
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
