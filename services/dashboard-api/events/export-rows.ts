import { pick } from '../../../platform/pick.ts';
import { events } from '../../../store/db/schema.ts';
import { readNotesOf, type ShownNote } from '../../../store/notes/list-notes.ts';
import type { EventCursor } from '../../../store/read/event-cursor.ts';
import type { EventFilter } from '../../../store/read/event-filter.ts';
import { type EventPage, type EventPageQuery, readEventPage } from '../../../store/read/event-page.ts';
import { listLimits } from '../../../store/read/limits.ts';
import { readListTexts } from '../../../store/segments/list-texts.ts';
import type { SegmentSource } from '../../../store/segments/open-segments.ts';
import { withInherited } from '../../../store/traces/event-contexts.ts';
import { withParents } from '../../../store/traces/parent-events.ts';
import { completeFilter } from '../charts/cost-rates.ts';
import { mapInSlices } from '../slices.ts';
import type { SpaceData, SpaceRows, SpaceTexts } from '../space-data.ts';
import { type ListedEvent, type ListedRow, listedColumns, showEvents } from './listed-event.ts';
import { correctParent, correctParents } from './parent-texts.ts';

/** Rows of larger pages outlive V8's young generation: 1,000 took 45 MiB more. */
const exportPageEvents = 250;

/** Events read together. Many, because events that started together may be in different segments. */
const exportTextEventsMax = 4_000;
const exportTextCharsMax = 8 * 1024 * 1024;

/** An exported event: its columns, with all stored additional properties. */
export interface ExportedEvent extends ListedEvent {
  attributes: Record<string, string | number> | null;
  /** On the event, its trace and its thread. */
  notes: ShownNote[];
}

/** An exported event with its text, exactly as sent. */
export interface WholeExportedEvent {
  event: ExportedEvent;
  text: string;
}

type ExportedSpace = SpaceTexts & Pick<SpaceData, 'openBytes'>;

const shownColumns = { ...listedColumns, attributes: events.attributes };

/** Location of an event's text, its parent, and what it may have inherited. */
const textColumns = {
  ...pick(events, 'id', 'traceId', 'attributes', 'agentId', 'threadId', 'userId'),
  ...pick(events, 'startTimeMs', 'segmentId', 'segmentIndex'),
};

/** Searches by segment later than a list: an export reads all pages anyway. */
const exportLimits = { ...listLimits, firstWalkEvents: 5_000 };

const textLimits = {
  firstEvents: exportPageEvents,
  eventsMax: exportTextEventsMax,
  charsMax: exportTextCharsMax,
};

/** Yields events newest first; those stored before the export exactly once, later ones at most once. */
export async function* exportEvents(space: SpaceRows, filter: EventFilter): AsyncGenerator<ExportedEvent[]> {
  const { database, spaceId } = space;
  const pages = readPages(space, filter, (query) =>
    readEventPage(database, spaceId, { columns: shownColumns, ...query, limits: exportLimits }),
  );
  for await (const rows of pages) yield await showExported(space, rows);
}

/** The events as sent, a line of JSON each, with what they inherited since. */
export async function* exportTexts(space: ExportedSpace, filter: EventFilter): AsyncGenerator<string[]> {
  const { database, spaceId } = space;
  const pages = readPages(space, filter, (query) =>
    readEventPage(database, spaceId, { columns: textColumns, ...query, limits: exportLimits }),
  );
  for await (const rows of readListTexts(sourceOf(space), pages, textLimits)) {
    const corrected = await correctParents(database, spaceId, rows);
    // Line breaks of pretty-printed events are between tokens; within strings JSON escapes them.
    yield await mapInSlices(corrected, ([row, text]) => withInherited(text, row).replaceAll(/[\r\n]/g, ' '));
  }
}

/** Like {@link exportEvents}, but yields each event with its text. */
export async function* exportWholeEvents(
  space: ExportedSpace,
  filter: EventFilter,
): AsyncGenerator<WholeExportedEvent[]> {
  const { database, spaceId } = space;
  const columns = { ...shownColumns, ...textColumns };
  const pages = readPages(space, filter, (query) =>
    readEventPage(database, spaceId, { columns, ...query, limits: exportLimits }),
  );
  for await (const rows of readListTexts(sourceOf(space), pages, textLimits)) {
    const columnsOf = rows.map(([{ segmentId: _segment, segmentIndex: _index, ...row }]) => row);
    const shown = await showExported(space, columnsOf);
    yield await mapInSlices(shown, (event, place) => {
      const [stored, text = ''] = rows[place] ?? [];
      return { event, text: correctParent(text, stored?.attributes ?? null, event.attributes) };
    });
  }
}

async function showExported<Row extends ListedRow & Pick<ExportedEvent, 'attributes'>>(
  { database, spaceId }: SpaceRows,
  rows: readonly Row[],
): Promise<ExportedEvent[]> {
  const shown = await showEvents(database, spaceId, await withParents(database, spaceId, rows));
  const notes = await readNotesOf(database, spaceId, shown);
  return shown.map((event, place) => ({ ...event, notes: notes[place] ?? [] }));
}

function sourceOf({ database, spaceId, openingLimiter, openBytes }: ExportedSpace): SegmentSource {
  return { database, spaceId, limiter: openingLimiter, openBytes };
}

async function* readPages<Row>(
  space: SpaceRows,
  asked: EventFilter,
  readPage: (query: EventPageQuery) => Promise<EventPage<Row>>,
): AsyncGenerator<Row[]> {
  const filter = await completeFilter(space, asked);
  const read = (after: EventCursor | undefined) => {
    const page = readPage({ filter, after, limit: exportPageEvents });
    // No unhandled rejection meanwhile or after a disconnect; awaiting it still throws.
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
