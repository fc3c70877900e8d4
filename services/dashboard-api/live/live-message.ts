import { type TrackedEnvelope, tracked } from '@trpc/server';
import { z } from 'zod';
import { formatPosition, type TailPosition } from '../../../store/tail/position.ts';
import { listedEvent } from '../events/listed-event.ts';

const skippedEvents = z
  .object({
    /** Approximate number of events stored in between, before filtering; null when unknown. */
    events: z.number().nullable(),
    /** Whether counting stopped at its limit, so there are more. */
    isAtLeast: z.boolean(),
    /** The input of `live.since` that reads them. */
    after: z.string(),
    until: z.string(),
  })
  .meta({ id: 'SkippedEvents' });

/** The tracked id is the position after the message: a client that resumes with it misses no event. */
export const liveMessage = z
  .discriminatedUnion('type', [
    /** One or more events in storage order. Each event comes once. */
    z.object({ type: z.literal('events'), events: z.array(listedEvent) }),
    /** The stream is up to date here. Sent first, at intervals, and when `isDelayed` (no reads) changes. */
    z.object({ type: z.literal('status'), isDelayed: z.boolean() }),
    /**
     * Later spans changed stored events (docs/opentelemetry.md): `events` are those that match, `removed` the
     * ids of others. The client may not know all. For streams with `changes`.
     */
    z.object({ type: z.literal('changed'), events: z.array(listedEvent), removed: z.array(z.guid()) }),
    /** Too far behind: continues with the newest events. `live.since` reads the skipped ones. */
    z.object({ type: z.literal('skipped'), skipped: skippedEvents }),
  ])
  .meta({ id: 'LiveMessage' });
export type LiveMessage = z.infer<typeof liveMessage>;

/** Messages with their ids. Unlike other outputs, they are only validated in tests. */
export const liveMessages = z.custom<AsyncGenerator<TrackedMessage, void>>().meta({ messages: liveMessage });
export type TrackedMessage = TrackedEnvelope<LiveMessage>;

export function toTracked(end: TailPosition, message: LiveMessage): TrackedMessage {
  return tracked(formatPosition(end), message);
}

/** Number of events that a stream has skipped; null when unknown. */
export interface SkippedCount {
  readonly events: number | null;
  readonly isAtLeast: boolean;
}

/** The stream skips the events stored between two positions and continues after them. */
export function skippedMessage(
  { after, end }: { after: TailPosition; end: TailPosition },
  { events, isAtLeast }: SkippedCount,
): TrackedMessage {
  const [from, until] = [formatPosition(after), formatPosition(end)];
  return toTracked(end, { type: 'skipped', skipped: { events, isAtLeast, after: from, until } });
}
