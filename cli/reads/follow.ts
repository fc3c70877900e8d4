import { setTimeout as sleep } from 'node:timers/promises';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { EventFilter } from '../../store/read/event-filter.ts';
import { isTransient } from '../client/send-with-retry.ts';
import { type Host, printMessage } from '../host.ts';
import type { ListedEvent } from './list-events.ts';
import { ApiError, type ReadApi } from './read-api.ts';

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
export async function* followEvents(
  host: Host,
  api: ReadApi,
  filter: EventFilter,
): AsyncGenerator<ListedEvent> {
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
