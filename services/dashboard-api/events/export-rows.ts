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
import { type ListedEvent, listedColumns, showEvents } from './listed-event.ts';

/** An exported event: its columns, with all stored additional properties. */
export interface ExportedEvent extends ListedEvent {
  attributes: Record<string, string | number> | null;
}

/** An exported event with its text, exactly as sent. */
export interface WholeExportedEvent {
  event: ExportedEvent;
  text: string;
}

const shownColumns = { ...listedColumns, attributes: events.attributes };

/** Location of an event's text. */
const textColumns = {
  id: events.id,
  startTimeMs: events.startTimeMs,
  segmentId: events.segmentId,
  segmentIndex: events.segmentIndex,
};

/** Examines more events in time order than a list before searching by segment: an export reads all pages anyway. */
const exportLimits = { ...listLimits, firstWalkEvents: 5_000 };

/**
 * Reads all events of a filter, newest first, in pages, prefetching one page. Every event stored before the export began comes exactly
 * once; one stored meanwhile comes once or not at all.
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
  for await (const rows of pages) yield await showEvents(database, spaceId, rows);
}

/** Like {@link exportEvents}, but yields the events as sent, one line of JSON each. */
export async function* exportTexts(
  { database, openingLimiter }: { database: Database; openingLimiter: Limiter },
  spaceId: string,
  filter: EventFilter,
): AsyncGenerator<string[]> {
  const pages = readPages(
    (query) => readEventPage(database, spaceId, textColumns, query, exportLimits),
    filter,
  );
  for await (const rows of withTexts({ database, openingLimiter }, spaceId, pages)) {
    // Line breaks of pretty-printed events are between tokens; within strings JSON escapes them.
    yield rows.map(([, text]) => text.replaceAll(/[\r\n]/g, ' '));
  }
}

/** Like {@link exportEvents}, but yields each event with its text. */
export async function* exportWholeEvents(
  { database, openingLimiter }: { database: Database; openingLimiter: Limiter },
  spaceId: string,
  filter: EventFilter,
): AsyncGenerator<WholeExportedEvent[]> {
  const columns = { ...shownColumns, ...textColumns };
  const pages = readPages((query) => readEventPage(database, spaceId, columns, query, exportLimits), filter);
  for await (const rows of withTexts({ database, openingLimiter }, spaceId, pages)) {
    const columnsOf = rows.map(([{ segmentId: _segment, segmentIndex: _index, ...row }]) => row);
    const shown = await showEvents(database, spaceId, columnsOf);
    yield shown.map((event, place) => ({ event, text: rows[place]?.[1] ?? '' }));
  }
}

/** Adds the texts to the rows of pages. A page whose texts are too long comes in parts. */
async function* withTexts<Row extends EventRow<typeof textColumns>>(
  { database, openingLimiter }: { database: Database; openingLimiter: Limiter },
  spaceId: string,
  pages: AsyncIterable<Row[]>,
): AsyncGenerator<[Row, string][]> {
  for await (const rows of pages) {
    let from = 0;
    let count = rows.length;
    while (from < rows.length) {
      const some = rows.slice(from, from + count);
      const read = await openingLimiter(() => readTexts(database, spaceId, some));
      if (read === undefined) {
        count = Math.ceil(some.length / 2);
        continue;
      }
      yield read;
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
    // Avoids an unhandled rejection while the previous page is written or after the client disconnected; awaiting it still throws.
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
async function readTexts<Row extends EventRow<typeof textColumns>>(
  database: Database,
  spaceId: string,
  rows: readonly Row[],
): Promise<[Row, string][] | undefined> {
  const charsMax = rows.length === 1 ? Number.POSITIVE_INFINITY : exportTextCharsMax;
  try {
    const texts = await readEventTexts(database, spaceId, rows, { charsMax });
    const read: [Row, string][] = [];
    for (const [place, row] of rows.entries()) {
      const text = texts[place];
      if (text !== undefined) read.push([row, text]);
      // A missing text means that the event expired after its row was read. If its row still exists, the data is damaged.
      else if (await isEventStored(database, spaceId, row.id)) {
        throw new Error(`The segment of event ${row.id} is missing.`);
      }
    }
    return read;
  } catch (error) {
    if (error instanceof EventTextsTooLargeError) return undefined;
    throw error;
  }
}
