import { type TrackedEnvelope, tracked } from '@trpc/server';
import { z } from 'zod';
import { formatPosition, type TailPosition } from '../../../lib/tail/position.ts';
import { listedEvent } from '../events/listed-event.ts';

const skippedEvents = z
  .object({
    /** About how many events were stored meanwhile, before the filter; null when that is not known. */
    events: z.number().nullable(),
    /** Whether there are more: not all of them were counted. */
    isAtLeast: z.boolean(),
    /** The input of `live.since` that reads them. */
    after: z.string(),
    until: z.string(),
  })
  .meta({ id: 'SkippedEvents' });

/** A message of a live stream. Its tracked id is the position after it: a client that sends it back misses nothing. */
export const liveMessage = z
  .discriminatedUnion('type', [
    /** Events in the order in which they were stored, at least one. Each event comes once. */
    z.object({ type: z.literal('events'), events: z.array(listedEvent) }),
    /**
     * The stream is up to date at this position; it is sent at the beginning, from time to time, and when `isDelayed` changes.
     * Delayed: Postgres cannot be read.
     */
    z.object({ type: z.literal('status'), isDelayed: z.boolean() }),
    /** The stream was too far behind and goes on with the newest events. `live.since` reads what lies between. */
    z.object({ type: z.literal('skipped'), skipped: skippedEvents }),
  ])
  .meta({ id: 'LiveMessage' });
export type LiveMessage = z.infer<typeof liveMessage>;

/** The output of a subscription: messages with their ids. Unlike other outputs, each is validated in tests only. */
export const liveMessages = z.custom<AsyncGenerator<TrackedMessage, void>>().meta({ messages: liveMessage });
export type TrackedMessage = TrackedEnvelope<LiveMessage>;

export function toTracked(end: TailPosition, message: LiveMessage): TrackedMessage {
  return tracked(formatPosition(end), message);
}

/** How many events a stream has left out; null when that is not known. */
export interface SkippedCount {
  readonly events: number | null;
  readonly isAtLeast: boolean;
}

/** Tells that a stream leaves out what was stored after a position, up to another one, and goes on there. */
export function skippedMessage(
  { after, end }: { after: TailPosition; end: TailPosition },
  { events, isAtLeast }: SkippedCount,
): TrackedMessage {
  const [from, until] = [formatPosition(after), formatPosition(end)];
  return toTracked(end, { type: 'skipped', skipped: { events, isAtLeast, after: from, until } });
}
