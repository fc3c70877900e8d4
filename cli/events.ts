import type { Command } from 'commander';
import type { Sql } from '../lib/db/connect.ts';
import { printedCharsMax, printedEventsPage } from '../lib/limits.ts';
import { EventTextsTooLarge, readEventTexts } from '../lib/segment/read.ts';
import { parseId, wholeNumber } from './arguments.ts';
import { requireSpace, withPostgres } from './database.ts';
import { type Host, printLine } from './host.ts';

const limitDefault = 100;

/** `events` (design §4). */
export function addEventsCommand(program: Command, host: Host): void {
  program
    .command('events')
    .description("a space's events as they were sent, newest first, one a line")
    .requiredOption('--space <id>', 'the space')
    .option('--limit <n>', 'how many at most', wholeNumber(0), limitDefault)
    .action((options: { space: string; limit: number }) =>
      withPostgres(host, async (sql) => {
        const spaceId = parseId('space', options.space);
        await requireSpace(sql, spaceId);
        for await (const line of readEventLines(sql, spaceId, options.limit)) await printLine(host, line);
      }),
    );
}

interface EventRow {
  id: string;
  startTimeMs: number;
  receivedAt: Date;
  segmentId: string;
  segmentIndex: number;
}

/**
 * Reads a space's events, newest start first, each as one line of JSON: the text that was sent, with `receivedAt` as
 * its last member. Memory holds one page of them; a page that does not fit is asked for again, half as long.
 */
export async function* readEventLines(sql: Sql, spaceId: string, limit: number): AsyncGenerator<string> {
  let pageEvents = printedEventsPage;
  let after: EventRow | undefined;
  for (let left = limit; left > 0; ) {
    const rows: EventRow[] = await readPage(sql, spaceId, { after, limit: Math.min(left, pageEvents) });
    const texts = await readPageTexts(sql, spaceId, rows);
    if (texts === undefined) {
      pageEvents = Math.ceil(rows.length / 2);
      continue;
    }
    for (const [place, row] of rows.entries()) {
      const text = texts[place];
      // The writer stores both in one statement: a row without its segment is damage, not absence.
      if (text === undefined) throw new Error(`The segment of event ${row.id} is missing.`);
      yield addReceivedAt(text, row.receivedAt);
    }
    if (rows.length < pageEvents) return;
    after = rows.at(-1);
    left -= rows.length;
  }
}

/** @returns undefined when memory should not hold so much: one event alone always fits. */
async function readPageTexts(
  sql: Sql,
  spaceId: string,
  rows: readonly EventRow[],
): Promise<(string | undefined)[] | undefined> {
  try {
    const charsMax = rows.length === 1 ? Number.POSITIVE_INFINITY : printedCharsMax;
    return await readEventTexts(sql, spaceId, rows, { charsMax });
  } catch (error) {
    if (error instanceof EventTextsTooLarge) return undefined;
    throw error;
  }
}

/** Works on the text, so that 64-bit integers and escapes stay as they were sent. */
function addReceivedAt(text: string, receivedAt: Date): string {
  // Line breaks of a pretty-printed event stand between tokens: inside a string JSON has them escaped.
  const line = text.replaceAll(/[\r\n]/g, ' ');
  return `${line.slice(0, -1)},"receivedAt":"${receivedAt.toISOString()}"}`;
}

/**
 * The order is the index events_by_start_time's, NULLS LAST included. After a row there are two ranges of it, each
 * read from its beginning; as one condition with OR, every page would read again all before it.
 */
function readPage(sql: Sql, spaceId: string, page: { after: EventRow | undefined; limit: number }) {
  const { after, limit } = page;
  const selected = sql`
    SELECT id, start_time_ms AS "startTimeMs", received_at AS "receivedAt", segment_id AS "segmentId",
      segment_index AS "segmentIndex"
    FROM events WHERE space_id = ${spaceId}`;
  if (after === undefined) {
    return sql<EventRow[]>`${selected} ORDER BY start_time_ms DESC NULLS LAST, id LIMIT ${limit}`;
  }
  return sql<EventRow[]>`
    (${selected} AND start_time_ms = ${after.startTimeMs} AND id > ${after.id} ORDER BY id LIMIT ${limit})
    UNION ALL
    (${selected} AND start_time_ms < ${after.startTimeMs} ORDER BY start_time_ms DESC NULLS LAST, id LIMIT ${limit})
    ORDER BY "startTimeMs" DESC NULLS LAST, id LIMIT ${limit}`;
}
