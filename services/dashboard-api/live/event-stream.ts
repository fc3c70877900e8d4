import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { TrackedEnvelope } from '@trpc/server';
import { liveDurationMsMax, livePingMs, liveSilenceMsMax } from './limits.ts';

/** What a stream of server-sent events sends. */
export interface EventSource {
  /** Opens it. The signal ends it. */
  open: (signal: AbortSignal) => Promise<AsyncIterable<TrackedEnvelope<object>>>;
  /** What the client is told of an error that ends it. */
  describeError: (thrown: unknown) => unknown;
}

const headers = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store, no-transform',
  // nginx would hold the events back.
  'X-Accel-Buffering': 'no',
} as const;

/**
 * Answers with a subscription, in the protocol of tRPC's httpSubscriptionLink: as tRPC itself would, but each event is one
 * buffer and one write, and a message that many streams send is encoded once. tRPC's own way through three web streams
 * takes five writes a message and most of the processor time and memory of a live stream.
 *
 * It ends without a word after {@link liveDurationMsMax}: the client connects again.
 */
export async function sendEventStream(response: ServerResponse, source: EventSource): Promise<void> {
  const ending = new AbortController();
  const end = () => ending.abort();
  response.once('close', end);
  const limit = setTimeout(end, liveDurationMsMax);
  response.writeHead(200, headers);
  response.write(connected);
  // A client that does not read gets no signs of life: they would be held for it.
  const ping = setInterval(() => response.writableNeedDrain || response.write(sign), livePingMs);
  try {
    for await (const [id, message] of await source.open(ending.signal)) {
      const bytes = bytesOf(message) ?? encodeEvent({ id, data: JSON.stringify(message) });
      if (!response.write(bytes)) await once(response, 'drain', { signal: ending.signal });
      ping.refresh();
    }
  } catch (thrown) {
    if (!ending.signal.aborted) {
      const data = JSON.stringify(source.describeError(thrown));
      response.write(encodeEvent({ event: 'serialized-error', data }));
    }
  } finally {
    clearInterval(ping);
    clearTimeout(limit);
    response.end();
  }
}

/** One event of a stream. `data` has no line break. */
export function encodeEvent(event: { event?: string; data: string; id?: string }): Buffer {
  const name = event.event === undefined ? '' : `event: ${event.event}\n`;
  const id = event.id === undefined ? '' : `id: ${event.id}\n`;
  return Buffer.from(`${name}data: ${event.data}\n${id}\n`);
}

/** A message that is encoded already. */
function bytesOf(message: object): Buffer | undefined {
  return 'bytes' in message && Buffer.isBuffer(message.bytes) ? message.bytes : undefined;
}

const connected = encodeEvent({
  event: 'connected',
  data: JSON.stringify({ reconnectAfterInactivityMs: liveSilenceMsMax }),
});
const sign = encodeEvent({ event: 'ping', data: '' });
