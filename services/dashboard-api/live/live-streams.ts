import { setTimeout as sleep } from 'node:timers/promises';
import { type TrackedEnvelope, tracked } from '@trpc/server';
import type { Database } from '../../../lib/db/database.ts';
import { type Limiter, openLimiter } from '../../../lib/limiter.ts';
import type { Logger } from '../../../lib/log.ts';
import type { EventFilter } from '../../../lib/read/event-filter.ts';
import { lagEventsMax, lateSegmentDays } from '../../../lib/tail/limits.ts';
import { comparePositions, formatPosition, type TailPosition } from '../../../lib/tail/position.ts';
import { readEdge, readLag } from '../../../lib/tail/stored-entries.ts';
import {
  liveCatchUpsMax,
  liveCostsMs,
  liveMessageEventsMax,
  livePositionMs,
  liveQueuedEventsMax,
  liveRecheckMs,
} from './limits.ts';
import type { LiveMessage, SkippedEvents } from './live-message.ts';
import { readLivePage } from './live-page.ts';
import { type LiveItem, LiveStream } from './live-stream.ts';
import { Pacer } from './pacer.ts';
import { QueueBudget } from './queue-budget.ts';
import { SpaceFeed } from './space-feed.ts';
import { StreamSlots } from './stream-slots.ts';

/** What a subscriber asks for. */
export interface LiveQuery {
  spaceId: string;
  /** What the streams of one session are counted by. */
  sessionKey: string;
  filter: EventFilter;
  /** Where it goes on; undefined for what is stored from now on. */
  after: TailPosition | undefined;
  signal: AbortSignal;
  /** Called again and again. @throws TRPCError when the session or its role are no more. */
  checkAccess: () => Promise<void>;
}

export type TrackedMessage = TrackedEnvelope<LiveMessage>;

/** The live streams of one process, over all spaces. */
export class LiveStreams {
  readonly #database: Database;
  readonly #log: Logger;
  readonly #pacer = new Pacer(() => performance.now());
  readonly #budget = new QueueBudget(liveQueuedEventsMax);
  readonly #slots = new StreamSlots();
  readonly #catchUps: Limiter = openLimiter(liveCatchUpsMax);
  readonly #feeds = new Map<string, SpaceFeed>();

  constructor(database: Database, log: Logger) {
    this.#database = database;
    this.#log = log;
  }

  /** A writer has stored something in the space. */
  wake(spaceId: string): void {
    this.#feeds.get(spaceId)?.wake();
  }

  /**
   * The messages of one subscriber, until its signal is aborted. It holds a bounded number of events: a subscriber that does
   * not take them reads them from Postgres later, or skips when it is too far behind.
   *
   * @throws TRPCError TOO_MANY_REQUESTS beyond the limits; what `checkAccess` throws.
   */
  async *open(query: LiveQuery): AsyncGenerator<TrackedMessage, void> {
    using _slot = this.#slots.take(query.sessionKey, query.spaceId);
    const edge = await readEdge(this.#database);
    const after = query.after ?? edge;
    const isLost =
      comparePositions(after, edge) > 0 || edge.atSeconds - after.atSeconds > lateSegmentDays * 86_400;
    const stream = new LiveStream(query.filter, isLost ? edge : after, this.#budget);
    const feed = this.#feedOf(query.spaceId);
    feed.users += 1;
    try {
      if (isLost) yield skipped(edge, { events: null, isAtLeast: false, after: formatPosition(after) });
      yield* this.#run(stream, feed, query);
    } finally {
      stream.close();
      feed.leave(stream);
      feed.users -= 1;
      if (feed.users === 0) this.#feeds.delete(query.spaceId);
    }
  }

  async *#run(stream: LiveStream, feed: SpaceFeed, query: LiveQuery): AsyncGenerator<TrackedMessage> {
    const { signal, checkAccess } = query;
    let checkedAtMs = performance.now();
    let sentAtMs = Number.NEGATIVE_INFINITY;
    let isDelayed: boolean | undefined;
    while (!signal.aborted) {
      if (performance.now() - checkedAtMs >= liveRecheckMs) {
        await checkAccess();
        checkedAtMs = performance.now();
      }
      const item = stream.take();
      if (item !== undefined) {
        for (const message of toMessages(item)) {
          yield message;
          sentAtMs = performance.now();
        }
      } else if (!stream.isMember) {
        feed.leave(stream);
        // Joined only with an empty queue, so that nothing comes twice.
        stream.isMember = feed.join(stream, stream.position);
        if (!stream.isMember) yield* this.#catchUp(stream, query);
      } else if (stream.isDelayed !== isDelayed || performance.now() - sentAtMs >= livePositionMs) {
        isDelayed = stream.isDelayed;
        yield tracked(formatPosition(stream.position), { type: 'status', isDelayed });
        sentAtMs = performance.now();
      } else {
        await stream.wait(Math.min(livePositionMs, liveRecheckMs), signal);
      }
    }
  }

  /** Reads one page that the feed has passed already. */
  async *#catchUp(stream: LiveStream, { spaceId, signal }: LiveQuery): AsyncGenerator<TrackedMessage> {
    const after = stream.position;
    const page = await this.#catchUps(async () => {
      await sleep(this.#pacer.waitMs, undefined, { signal });
      return readLivePage(this.#database, spaceId, { after, filters: [stream.filter] });
    });
    this.#pacer.spend(liveCostsMs.message + (liveCostsMs.row + liveCostsMs.delivery) * page.events.length);
    for (let at = 0; at < page.events.length; at += liveMessageEventsMax) {
      const events = page.events.slice(at, at + liveMessageEventsMax);
      const isLast = at + liveMessageEventsMax >= page.events.length;
      const end = isLast ? page.end : (events.at(-1)?.position ?? page.end);
      yield* toMessages({ events, end });
      stream.position = end;
    }
    stream.position = page.end;
    if (page.isComplete) return;
    const lag = await readLag(this.#database, spaceId, page.end);
    if (lag.events <= lagEventsMax && !lag.isAtLeast) return;
    yield* toMessages({ events: [], end: lag.edge, skipped: { after: page.end, lag } });
    stream.position = lag.edge;
  }

  #feedOf(spaceId: string): SpaceFeed {
    const existing = this.#feeds.get(spaceId);
    if (existing !== undefined) return existing;
    const feed = new SpaceFeed({ database: this.#database, pacer: this.#pacer, log: this.#log }, spaceId);
    this.#feeds.set(spaceId, feed);
    return feed;
  }
}

function* toMessages({ events, end, skipped: gap }: LiveItem): Generator<TrackedMessage> {
  if (gap !== undefined) {
    const { events: count, isAtLeast } = gap.lag;
    yield skipped(end, { events: count, isAtLeast, after: formatPosition(gap.after) });
  }
  if (events.length > 0) {
    yield tracked(formatPosition(end), { type: 'events', events: events.map(({ event }) => event) });
  }
}

function skipped(until: TailPosition, gap: Omit<SkippedEvents, 'until'>): TrackedMessage {
  const text = formatPosition(until);
  return tracked(text, { type: 'skipped', skipped: { ...gap, until: text } });
}
