import type { ServerResponse } from 'node:http';
import { constants, Http2ServerResponse } from 'node:http2';
import type { TRPCError } from '@trpc/server';
import { refusal } from './refusal.ts';

/** The person, whichever of their sessions, read keys and spaces they use, and the space. */
export interface SlotHolder {
  readonly holderId: string;
  readonly spaceId: string;
}

export interface SlotLimits {
  readonly slotsMax: number;
  readonly ofHolderMax: number;
  readonly ofSpaceMax: number;
  /** What they are, for messages: `open live streams`. */
  readonly noun: string;
}

interface Slot extends SlotHolder {
  readonly response: ServerResponse;
}

/**
 * Places of responses that stay open for long, such as downloads. When all are taken, a newcomer gets the
 * newest one of the person who has the most, whose response is reset: a few people cannot keep others out.
 */
export class FairSlots {
  readonly #limits: SlotLimits;
  /** In the order in which they were taken. */
  readonly #slots = new Set<Slot>();

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  /** @returns what frees the place. @throws TRPCError TOO_MANY_REQUESTS that says which limit is reached. */
  take(holder: SlotHolder, response: ServerResponse): Disposable {
    const { slotsMax, ofHolderMax, ofSpaceMax } = this.#limits;
    const ofHolder = this.#of(({ holderId }) => holderId === holder.holderId).length;
    const ofSpace = this.#of(({ spaceId }) => spaceId === holder.spaceId).length;
    if (ofHolder >= ofHolderMax) throw this.#refuse('You have', ofHolderMax);
    if (ofSpace >= ofSpaceMax) throw this.#refuse('The space has', ofSpaceMax);
    if (this.#slots.size >= slotsMax && !this.#freeOne(ofHolder))
      throw this.#refuse('The server has', slotsMax);
    const slot = { ...holder, response };
    this.#slots.add(slot);
    return { [Symbol.dispose]: () => void this.#slots.delete(slot) };
  }

  /**
   * Frees a slot of the person with the most. @returns whether that person keeps as many as the newcomer
   * gets.
   */
  #freeOne(ofNewcomer: number): boolean {
    const byHolder = Map.groupBy(this.#slots, ({ holderId }) => holderId);
    const most = Array.from(byHolder.values()).reduce((a, b) => (b.length > a.length ? b : a), []);
    const newest = most.at(-1);
    if (newest === undefined || most.length - 1 <= ofNewcomer) return false;
    this.#slots.delete(newest);
    resetResponse(newest.response);
    return true;
  }

  #of(isOwn: (slot: Slot) => boolean): Slot[] {
    return [...this.#slots].filter(isOwn);
  }

  #refuse(whose: string, count: number): TRPCError {
    const message = `${whose} ${count} ${this.#limits.noun}. Close one, or try again later.`;
    return refusal('TOO_MANY_REQUESTS', message);
  }
}

/**
 * Ends a response at once: `destroy` of an HTTP/2 stream sends the body, which it keeps, before the reset.
 */
export function resetResponse(response: ServerResponse): void {
  // Over HTTP/2 it is Node's compatible response.
  const given: unknown = response;
  if (given instanceof Http2ServerResponse) given.stream.close(constants.NGHTTP2_CANCEL);
  else response.destroy();
}
