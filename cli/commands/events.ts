import type { Command } from 'commander';
import type { Database } from '../../store/db/database.ts';
import { events } from '../../store/db/schema.ts';
import { readNotesOf, type ShownNote } from '../../store/notes/list-notes.ts';
import type { EventCursor } from '../../store/read/event-cursor.ts';
import { isEventStored } from '../../store/read/event-existence.ts';
import { readEventPage } from '../../store/read/event-page.ts';
import { withNotedEvents } from '../../store/read/noted-events.ts';
import { type EventLocator, EventTextsTooLargeError, readEventTexts } from '../../store/segments/read.ts';
import { withInherited } from '../../store/traces/event-contexts.ts';
import { wholeNumber } from '../arguments.ts';
import { requireSpace, withDatabase } from '../database.ts';
import { CommandError, type Host, printLine } from '../host.ts';
import { addFilterOptions, type FilterOptions, toFilter } from '../reads/filter-options.ts';
import { eventColumns, listEvents } from '../reads/list-events.ts';
import { addReadOptions, openReadApi, type ReadOptions } from '../reads/read-api.ts';
import { printRows } from '../reads/table.ts';

const printedCharsMax = 64 * 1024 * 1024;

/** Events of one page, if their text fits into `printedCharsMax`: each page decompresses all its segments. */
export const printedEventsPage = 5_000;

const limitDefault = 100;

export function addEventsCommand(program: Command, host: Host): void {
  const command = program
    .command('events')
    .description(
      "print a space's events, newest first, one per line: with --space as they were sent, read from the database; with a read key their columns",
    )
    .option('--space <id>', 'the space; needs the database')
    .option('--limit <n>', 'most events to print', wholeNumber(0), limitDefault);
  addFilterOptions(addReadOptions(command)).action(async (options: EventsOptions) => {
    const { space } = options;
    if (space === undefined) return printListed(host, options);
    await withDatabase(host, async (database) => {
      const spaceId = await requireSpace(database, space);
      for await (const line of readEventLines(database, spaceId, options)) await printLine(host, line);
    });
  });
}

interface EventsOptions extends FilterOptions, ReadOptions {
  space?: string;
  limit: number;
}

async function printListed(host: Host, options: EventsOptions): Promise<void> {
  if (!options.key && !host.env.WEIR_READ_KEY) {
    throw new CommandError('Give --space to read from the database, or a read key: --key or WEIR_READ_KEY.');
  }
  const api = openReadApi(host, options);
  await printRows(host, eventColumns, listEvents(api, toFilter(options), options.limit));
}

/**
 * Yields a space's events, newest start first, each as a line of JSON: the text that was sent, with what it
 * inherited since, `notes` if there are any, and `receivedAt`. Memory holds one page; one with too much text
 * is read again by halves.
 */
async function* readEventLines(
  database: Database,
  spaceId: string,
  options: EventsOptions,
): AsyncGenerator<string> {
  const { id, startTimeMs, receivedAt, segmentId, segmentIndex, attributes } = events;
  const inheritable = { agentId: events.agentId, threadId: events.threadId, userId: events.userId };
  const columns = {
    id,
    startTimeMs,
    receivedAt,
    traceId: events.traceId,
    segmentId,
    segmentIndex,
    attributes,
    ...inheritable,
  };
  const filter = await withNotedEvents(database, spaceId, toFilter(options));
  let pageEvents = printedEventsPage;
  let after: EventCursor | undefined;
  for (let left = options.limit; left > 0; ) {
    const limit = Math.min(left, pageEvents);
    const { rows, next } = await readEventPage(database, spaceId, { columns, filter, after, limit });
    const texts = await readPageTexts(database, spaceId, rows);
    if (texts === undefined) {
      pageEvents = Math.ceil(rows.length / 2);
      continue;
    }
    const notes = await readNotesOf(database, spaceId, rows);
    for (const [place, row] of rows.entries()) {
      const text = texts[place];
      if (text === undefined) {
        // Expired since its row was read? Otherwise data is damaged: one statement stores row and segment.
        if (!(await isEventStored(database, spaceId, row.id))) continue;
        throw new Error(`The segment of event ${row.id} is missing.`);
      }
      yield addMembers(withInherited(text, row), row.receivedAt, notes[place]);
    }
    if (next === undefined) return;
    after = next;
    left -= rows.length;
  }
}

/** @returns undefined when the texts exceed `printedCharsMax`, but not for a single event. */
async function readPageTexts(
  database: Database,
  spaceId: string,
  rows: readonly EventLocator[],
): Promise<(string | undefined)[] | undefined> {
  try {
    const charsMax = rows.length === 1 ? Number.POSITIVE_INFINITY : printedCharsMax;
    return await readEventTexts(database, spaceId, rows, { charsMax });
  } catch (error) {
    if (error instanceof EventTextsTooLargeError) return undefined;
    throw error;
  }
}

/** Edits the text instead of parsing it: 64-bit integers and escapes stay. */
function addMembers(text: string, receivedAt: Date, notes: readonly ShownNote[] = []): string {
  // Line breaks are between tokens: inside a string JSON escapes them.
  const line = text.replaceAll(/[\r\n]/g, ' ');
  const added = notes.length === 0 ? '' : `"notes":${JSON.stringify(notes)},`;
  return `${line.slice(0, -1)},${added}"receivedAt":"${receivedAt.toISOString()}"}`;
}
