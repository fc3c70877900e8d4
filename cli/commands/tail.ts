import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { EventFilter } from '../../store/read/event-filter.ts';
import { wholeNumber } from '../arguments.ts';
import { isTransient } from '../client/send-with-retry.ts';
import { type Host, printMessage } from '../host.ts';
import { addFilterOptions, type FilterOptions, toFilter } from '../reads/filter-options.ts';
import { eventColumns, type ListedEvent } from '../reads/list-events.ts';
import { ApiError, addReadOptions, openReadApi, type ReadApi, type ReadOptions } from '../reads/read-api.ts';
import { printRows } from '../reads/table.ts';

export function addTailCommand(program: Command, host: Host): void {
  const command = program
    .command('tail')
    .description('print events as they are stored, read with a read key');
  addFilterOptions(addReadOptions(command))
    .option('--limit <n>', 'end after so many events', wholeNumber(1))
    .action(async (options: FilterOptions & ReadOptions & { limit?: number }) => {
      const events = followEvents(host, openReadApi(host, options), toFilter(options));
      await printRows(host, eventColumns, takeFirst(events, options.limit ?? Number.POSITIVE_INFINITY));
    });
}

async function* takeFirst(events: AsyncIterable<ListedEvent>, limit: number): AsyncGenerator<ListedEvent> {
  let count = 0;
  for await (const event of events) {
    yield event;
    if (++count >= limit) return;
  }
}

const reconnectMs = 1_000;

/** The messages of `live.tail` (docs/read-api.md#live-events). */
type LiveMessage =
  | { type: 'events'; events: ListedEvent[] }
  | { type: 'status'; isDelayed: boolean }
  | { type: 'skipped'; skipped: { events: number | null; isAtLeast: boolean } };

/**
 * Yields the events of a filter as they are stored, each once, until the reader stops. Continues after a lost
 * connection or an outage.
 * @throws ApiError when the stream cannot be opened at first, or when a retry cannot succeed, as with a
 * revoked key.
 */
async function* followEvents(host: Host, api: ReadApi, filter: EventFilter): AsyncGenerator<ListedEvent> {
  let lastEventId: string | undefined;
  let hasBegun = false;
  let isLost = false;
  for (;;) {
    const input = encodeURIComponent(JSON.stringify({ ...filter, lastEventId }));
    try {
      const response = await api.open(`/trpc/live.tail?input=${input}`, { accept: 'text/event-stream' });
      const texts = response.body?.pipeThrough(new TextDecoderStream());
      for await (const { event, id, data } of texts?.pipeThrough(new EventSourceParserStream()) ?? []) {
        if (event === 'serialized-error') throw failureOf(data);
        if (event !== undefined) continue;
        hasBegun = true;
        isLost = false;
        const message = JSON.parse(data) as LiveMessage;
        lastEventId = id ?? lastEventId;
        if (message.type === 'events') yield* message.events;
        if (message.type === 'skipped') printMessage(host, describeSkipped(message.skipped));
      }
    } catch (error) {
      if (!hasBegun || isFinal(error)) throw error;
      if (!isLost) printMessage(host, 'The connection was lost. Connecting again.');
      isLost = true;
    }
    await sleep(reconnectMs);
  }
}

/** Whether a retry would fail, too: the API refuses the stream, or a message is not as documented. */
function isFinal(error: unknown): boolean {
  return error instanceof ApiError ? !isTransient(error.status) : error instanceof SyntaxError;
}

function failureOf(text: string): ApiError {
  const { message, data } = JSON.parse(text) as { message?: string; data?: { httpStatus?: number } };
  return new ApiError(message ?? 'The stream was refused.', data?.httpStatus ?? null);
}

function describeSkipped({ events, isAtLeast }: { events: number | null; isAtLeast: boolean }): string {
  const count = events === null ? 'Events' : `${isAtLeast ? 'At least ' : ''}${events} events`;
  return `${count} were skipped: the stream was too slow.`;
}
