import type { ServerResponse } from 'node:http';
import { FairSlots, type SlotHolder } from '../fair-slots.ts';
import { refusal } from '../refusal.ts';
import { liveStallMsMax, liveStreamLimits } from './limits.ts';

/** Fair places of streams. A shutdown ends these first: clients reconnect, and only other requests drain. */
export class OpenStreams implements Disposable {
  readonly #responses = new Set<ServerResponse>();
  readonly #slots = new FairSlots(liveStreamLimits);
  #isClosed = false;

  /**
   * @returns the place of the stream, to be freed when it ends.
   * @throws TRPCError SERVICE_UNAVAILABLE when the service is stopping; TOO_MANY_REQUESTS above the limits.
   */
  add(response: ServerResponse, holder: SlotHolder): Disposable {
    if (this.#isClosed) throw refusal('SERVICE_UNAVAILABLE', 'The service is restarting.');
    const slot = this.#slots.take(holder, response);
    // Pings keep a reading client active, so only one that does not read is disconnected.
    response.setTimeout(liveStallMsMax, () => response.destroy());
    this.#responses.add(response);
    response.once('close', () => this.#responses.delete(response));
    return slot;
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    for (const response of this.#responses) response.destroy();
  }
}
