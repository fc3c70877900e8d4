import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '../../platform/log.ts';
import { resetResponse } from './fair-slots.ts';
import { holderOf, senderOf } from './request-log.ts';

/** Unread bytes of all responses, sixty events of the largest size, and how often they are summed. */
const unreadBytesMax = 256 * 1024 * 1024;
const unreadCheckMs = 1_000;

/** A client that reads nothing of a response for this long is disconnected, as with a page of a download. */
const unreadStallMsMax = 120_000;

/**
 * Bounds the memory of responses that clients do not read: over HTTP/2 a client can ask for a hundred large
 * events and keep every window closed. Beyond the bound the sender with the most unread bytes loses its
 * responses.
 */
export class UnreadResponses implements Disposable {
  readonly #log: Logger;
  readonly #bytesMax: number;
  /** The address of each one's connection. */
  readonly #open = new Map<ServerResponse, string>();
  readonly #timer: NodeJS.Timeout;

  constructor(log: Logger, bytesMax = unreadBytesMax) {
    this.#log = log;
    this.#bytesMax = bytesMax;
    this.#timer = setInterval(() => this.#check(), unreadCheckMs).unref();
  }

  add(request: IncomingMessage, response: ServerResponse): void {
    this.#open.set(response, request.socket.remoteAddress ?? '');
    response.once('close', () => this.#open.delete(response));
    // Node counts any progress of a write as activity.
    response.setTimeout(unreadStallMsMax, () => resetResponse(response));
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    const unread = [...this.#open].flatMap(([response, address]) =>
      response.writableLength > 0 ? [{ response, address, bytes: response.writableLength }] : [],
    );
    let total = sumOf(unread);
    if (total <= this.#bytesMax) return;
    const bySender = Map.groupBy(unread, ({ response, address }) => holderOf(response) ?? address);
    for (const own of [...bySender.values()].toSorted((a, b) => sumOf(b) - sumOf(a))) {
      const bytes = sumOf(own);
      const [first] = own;
      this.#log.warn({ bytes, ...(first && senderOf(first.response)) }, 'responses were not read: reset');
      for (const { response } of own) resetResponse(response);
      total -= bytes;
      if (total <= this.#bytesMax) return;
    }
  }
}

function sumOf(unread: readonly { bytes: number }[]): number {
  return unread.reduce((sum, { bytes }) => sum + bytes, 0);
}
