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

/** A message of a live stream. Its tracked id is the position after it: a client that resumes with it misses no event. */
export const liveMessage = z
  .discriminatedUnion('type', [
    /** One or more events in storage order. Each event comes once. */
    z.object({ type: z.literal('events'), events: z.array(listedEvent) }),
    /**
     * The stream is up to date at this position. Sent at the start, periodically, and when `isDelayed` changes. `isDelayed`: Postgres
     * cannot be read.
     */
    z.object({ type: z.literal('status'), isDelayed: z.boolean() }),
    /**
     * Spans that came later changed stored events (docs/opentelemetry.md): `events` as they are now, if they match the filter, and the ids of
     * `removed` ones, which do not exist any more or do not match. Some may be unknown to the client. Only for a stream with `changes`.
     */
    z.object({ type: z.literal('changed'), events: z.array(listedEvent), removed: z.array(z.guid()) }),
    /** The stream was too far behind and continues with the newest events. `live.since` reads the skipped ones. */
    z.object({ type: z.literal('skipped'), skipped: skippedEvents }),
  ])
  .meta({ id: 'LiveMessage' });
export type LiveMessage = z.infer<typeof liveMessage>;

/** The output of a subscription: messages with their ids. Unlike other outputs, messages are only validated in tests. */
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

/** The message that a stream skips the events stored between two positions and continues after them. */
export function skippedMessage(
  { after, end }: { after: TailPosition; end: TailPosition },
  { events, isAtLeast }: SkippedCount,
): TrackedMessage {
  const [from, until] = [formatPosition(after), formatPosition(end)];
  return toTracked(end, { type: 'skipped', skipped: { events, isAtLeast, after: from, until } });
}
