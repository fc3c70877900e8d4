import { setTimeout as sleep } from 'node:timers/promises';
import type { EventFilter } from '../../store/read/event-filter.ts';
import { CommandError, type Host, printMessage } from '../host.ts';
import type { ListedEvent } from './event-columns.ts';
import type { ReadApi } from './read-api.ts';
import { readMessages } from './server-sent-events.ts';

/** Pause before a stream is opened again. */
const reconnectMs = 1_000;

/** The messages of `live.tail` (docs/dashboard-live.md). */
type LiveMessage =
  | { type: 'events'; events: ListedEvent[] }
  | { type: 'status'; isDelayed: boolean }
  | { type: 'skipped'; skipped: { events: number | null; isAtLeast: boolean } };

/**
 * Yields the events of a filter as they are stored, each once, until the reader stops. After a lost connection it continues where it was.
 *
 * @throws CommandError when the first connection fails, or when the key is refused.
 */
export async function* followEvents(
  host: Host,
  api: ReadApi,
  filter: EventFilter,
): AsyncGenerator<ListedEvent> {
  let lastEventId: string | undefined;
  for (let isFirst = true; ; isFirst = false) {
    const input = encodeURIComponent(JSON.stringify({ ...filter, lastEventId }));
    try {
      const response = await api.open(`/trpc/live.tail?input=${input}`, { accept: 'text/event-stream' });
      for await (const { event, id, data } of readMessages(response.body)) {
        if (event === 'serialized-error') throw refusal(data);
        if (event !== '') continue;
        lastEventId = id ?? lastEventId;
        const message = JSON.parse(data) as LiveMessage;
        if (message.type === 'events') yield* message.events;
        if (message.type === 'skipped') printMessage(host, describeSkipped(message.skipped));
      }
    } catch (error) {
      if (isFirst || error instanceof RefusedError) throw error;
      printMessage(host, 'The connection was lost. Connecting again.');
    }
    await sleep(reconnectMs);
  }
}

/** The API ended the stream, for example because the key was revoked. */
class RefusedError extends CommandError {}

function refusal(data: string): CommandError {
  const { message = 'The stream was refused.' } = JSON.parse(data) as { message?: string };
  return new RefusedError(message);
}

function describeSkipped({ events, isAtLeast }: { events: number | null; isAtLeast: boolean }): string {
  const count = events === null ? 'Events' : `${isAtLeast ? 'At least ' : ''}${events} events`;
  return `${count} were skipped: the stream was too slow.`;
}
