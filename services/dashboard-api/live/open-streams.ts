import type { ServerResponse } from 'node:http';
import { TRPCError } from '@trpc/server';
import { liveStallMsMax } from './limits.ts';

/**
 * The responses that are live streams. They never end by themselves, so a service that stops destroys them first: their clients
 * reconnect elsewhere at once, and the drain waits for other requests only.
 */
export class OpenStreams implements Disposable {
  readonly #responses = new Set<ServerResponse>();
  #isClosed = false;

  /** @throws TRPCError when the service is stopping: the client connects again. */
  add(response: ServerResponse): void {
    if (this.#isClosed)
      throw new TRPCError({ code: 'SERVICE_UNAVAILABLE', message: 'The service is restarting.' });
    // Only a client that does not read is quiet for so long. Node then closes the connection.
    response.setTimeout(liveStallMsMax, () => response.destroy());
    this.#responses.add(response);
    response.once('close', () => this.#responses.delete(response));
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    for (const response of this.#responses) response.destroy();
  }
}
