import type { ServerResponse } from 'node:http';
import { TRPCError } from '@trpc/server';
import { liveStallMsMax } from './limits.ts';

/**
 * The open responses of live streams. They do not end by themselves, so on shutdown they are destroyed first: clients reconnect at
 * once, and the drain only waits for other requests.
 */
export class OpenStreams implements Disposable {
  readonly #responses = new Set<ServerResponse>();
  #isClosed = false;

  /** @throws TRPCError when the service is stopping; the client then reconnects. */
  add(response: ServerResponse): void {
    if (this.#isClosed)
      throw new TRPCError({ code: 'SERVICE_UNAVAILABLE', message: 'The service is restarting.' });
    // Pings keep a reading client active, so only one that does not read times out; its connection is destroyed.
    response.setTimeout(liveStallMsMax, () => response.destroy());
    this.#responses.add(response);
    response.once('close', () => this.#responses.delete(response));
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    for (const response of this.#responses) response.destroy();
  }
}
