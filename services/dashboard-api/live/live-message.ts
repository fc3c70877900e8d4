import type { TrackedEnvelope } from '@trpc/server';
import { z } from 'zod';
import { formatPosition, type TailPosition } from '../../../lib/tail/position.ts';
import type { TailLag } from '../../../lib/tail/stored-entries.ts';
import { listedEvent } from '../events/listed-event.ts';

const skippedEvents = z
  .object({
    /** How many events were stored meanwhile, at most, before the filter; null when that is not known. */
    events: z.number().nullable(),
    /** Whether `events` is only a part of them: more were not counted. */
    isAtLeast: z.boolean(),
    /** The input of `live.since` that reads them: `after`, until its `cursor` reaches `until`. */
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
     * Delayed: events have been stored and cannot be shown yet, because a long transaction is running or Postgres is away.
     */
    z.object({ type: z.literal('status'), isDelayed: z.boolean() }),
    /** The stream was too far behind and goes on with the newest events. `live.since` reads what lies between. */
    z.object({ type: z.literal('skipped'), skipped: skippedEvents }),
  ])
  .meta({ id: 'LiveMessage' });
export type LiveMessage = z.infer<typeof liveMessage>;

/**
 * The output of a subscription: messages with their ids. Each message is sent to many streams, and is made in one place: unlike other
 * outputs, messages are not validated while Weir runs, but in tests.
 */
export const liveMessages = z
  .custom<AsyncGenerator<TrackedEnvelope<LiveMessage>, void>>()
  .meta({ messages: liveMessage });

/** The message of a stream that goes on at the edge of a lag. `events` of the lag is null when it is not known. */
export function skippedMessage(
  after: TailPosition,
  { events, isAtLeast, edge }: Omit<TailLag, 'events'> & { events: number | null },
): LiveMessage {
  const [from, until] = [formatPosition(after), formatPosition(edge)];
  return { type: 'skipped', skipped: { events, isAtLeast, after: from, until } };
}
