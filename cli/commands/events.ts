import { type Command, Option } from 'commander';
import type { Database } from '../../lib/db/database.ts';
import { events } from '../../lib/db/schema.ts';
import type { EventCursor } from '../../lib/read/event-cursor.ts';
import { isEventStored } from '../../lib/read/event-existence.ts';
import type { EventFilter } from '../../lib/read/event-filter.ts';
import { readEventPage } from '../../lib/read/event-page.ts';
import { type EventLocator, EventTextsTooLargeError, readEventTexts } from '../../lib/segment/read.ts';
import {
  collectAttributes,
  parseDuration,
  parseId,
  parseTime,
  parseTrace,
  wholeNumber,
} from '../arguments.ts';
import { requireSpace, withDatabase } from '../database.ts';
import { type Host, printLine } from '../host.ts';
import { printedCharsMax, printedEventsPage } from '../limits.ts';

const limitDefault = 100;

/** `events`: prints a space's events. */
export function addEventsCommand(program: Command, host: Host): void {
  program
    .command('events')
    .description("print a space's events as they were sent, newest first, one per line")
    .requiredOption('--space <id>', 'the space')
    .option('--limit <n>', 'most events to print', wholeNumber(0), limitDefault)
    .addOption(new Option('--type <type>', 'LLM calls or tool calls').choices(['llm', 'tool']))
    .addOption(new Option('--state <state>', 'the outcome of the call').choices(['ok', 'error']))
    .option('--name <name>', 'the model or the tool')
    .option('--source <source>', 'the instrumented library')
    .option('--trace <id>', 'the trace', parseTrace)
    .option('--thread <id>', 'the thread')
    .option('--agent <id>', 'the agent')
    .option('--agent-group <id>', 'the agent group')
    .option('--user <id>', 'the user')
    .option('--error-code <code>', 'the code of the error')
    .option('--attribute <key=value>', 'an additional property; may be repeated', collectAttributes)
    .option('--from <time>', 'first start time: ISO 8601, or milliseconds since 1970', parseTime)
    .option('--to <time>', 'end of the start times (exclusive)', parseTime)
    .option('--min-duration <ms>', 'shortest duration', parseDuration)
    .option('--max-duration <ms>', 'longest duration', parseDuration)
    .option('--text <text>', 'text to find in the previews of input and output (their first characters)')
    .action((options: EventOptions) =>
      withDatabase(host, async (database) => {
        const spaceId = parseId('space', options.space);
        await requireSpace(database, spaceId);
        for await (const line of readEventLines(database, spaceId, options)) {
          await printLine(host, line);
        }
      }),
    );
}

interface EventOptions
  extends Pick<EventFilter, 'type' | 'state' | 'name' | 'source' | 'errorCode' | 'from' | 'to' | 'text'> {
  space: string;
  limit: number;
  trace?: string;
  thread?: string;
  agent?: string;
  agentGroup?: string;
  user?: string;
  attribute?: EventFilter['attributes'];
  minDuration?: number;
  maxDuration?: number;
}

function toFilter(options: EventOptions): EventFilter {
  const { type, state, name, source, errorCode, from, to, text } = options;
  return {
    type,
    state,
    name,
    source,
    errorCode,
    from,
    to,
    text,
    traceId: options.trace,
    threadId: options.thread,
    agentId: options.agent,
    agentGroupId: options.agentGroup,
    userId: options.user,
    attributes: options.attribute,
    minDurationMs: options.minDuration,
    maxDurationMs: options.maxDuration,
  };
}

/**
 * Reads a space's events, newest start first, each as one line of JSON: the text that was sent, with `receivedAt` as
 * its last member. Memory holds one page. A page whose text is too large is read again with half as many events.
 */
async function* readEventLines(
  database: Database,
  spaceId: string,
  options: EventOptions,
): AsyncGenerator<string> {
  const { id, startTimeMs, receivedAt, segmentId, segmentIndex } = events;
  const columns = { id, startTimeMs, receivedAt, segmentId, segmentIndex };
  const filter = toFilter(options);
  let pageEvents = printedEventsPage;
  let after: EventCursor | undefined;
  for (let left = options.limit; left > 0; ) {
    const limit = Math.min(left, pageEvents);
    const { rows, next } = await readEventPage(database, spaceId, columns, { filter, after, limit });
    const texts = await readPageTexts(database, spaceId, rows);
    if (texts === undefined) {
      pageEvents = Math.ceil(rows.length / 2);
      continue;
    }
    for (const [place, row] of rows.entries()) {
      const text = texts[place];
      if (text === undefined) {
        // The event may have expired since its row was read. Otherwise data is damaged: the writer stores row and segment in
        // one statement.
        if (!(await isEventStored(database, spaceId, row.id))) continue;
        throw new Error(`The segment of event ${row.id} is missing.`);
      }
      yield addReceivedAt(text, row.receivedAt);
    }
    if (next === undefined) return;
    after = next;
    left -= rows.length;
  }
}

/** @returns undefined when the texts exceed `printedCharsMax`. A single event is always read. */
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

/** Edits the text instead of parsing it, so that 64-bit integers and escapes are unchanged. */
function addReceivedAt(text: string, receivedAt: Date): string {
  // Line breaks of a pretty-printed event are between tokens: inside a string JSON escapes them.
  const line = text.replaceAll(/[\r\n]/g, ' ');
  return `${line.slice(0, -1)},"receivedAt":"${receivedAt.toISOString()}"}`;
}
