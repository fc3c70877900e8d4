import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../../lib/db/database.ts';
import { type Limiter, openLimiter } from '../../../lib/limiter.ts';
import type { Logger } from '../../../lib/log.ts';
import type { EventFilter } from '../../../lib/read/event-filter.ts';
import { lagEventsMax, lateSegmentDays } from '../../../lib/tail/limits.ts';
import { comparePositions, type TailPosition } from '../../../lib/tail/position.ts';
import { readEdge, readLag } from '../../../lib/tail/stored-entries.ts';
import { EncodedMessage, type TrackedMessage } from './encoded-message.ts';
import {
  liveCatchUpsMax,
  liveCostsMs,
  liveMessageEventsMax,
  livePositionMs,
  liveQueuedBytesMax,
  liveRecheckMs,
} from './limits.ts';
import { toBatches } from './live-batch.ts';
import { skippedMessage } from './live-message.ts';
import { readLivePage } from './live-page.ts';
import { LiveStream } from './live-stream.ts';
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

/** The live streams of one process, over all spaces. */
export class LiveStreams {
  readonly #database: Database;
  readonly #log: Logger;
  readonly #pacer = new Pacer(() => performance.now());
  readonly #budget = new QueueBudget(liveQueuedBytesMax);
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
   * The messages of one subscriber, until its signal is aborted. It holds a bounded number of bytes: a subscriber that does
   * not take its messages reads them from Postgres later, or skips when it is too far behind.
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
      if (isLost) {
        const unknown = { events: null, isAtLeast: false, edge };
        yield new EncodedMessage(edge, skippedMessage(after, unknown)).envelope;
      }
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
      const message = stream.take();
      if (message !== undefined) {
        yield message.envelope;
        sentAtMs = performance.now();
      } else if (!stream.isMember) {
        feed.leave(stream);
        // Joined only with an empty queue, so that nothing comes twice.
        stream.isMember = feed.join(stream, stream.position);
        if (!stream.isMember) yield* this.#catchUp(stream, query);
      } else if (stream.isDelayed !== isDelayed || performance.now() - sentAtMs >= livePositionMs) {
        isDelayed = stream.isDelayed;
        yield new EncodedMessage(stream.position, { type: 'status', isDelayed }).envelope;
        sentAtMs = performance.now();
      } else {
        await stream.wait(Math.min(livePositionMs, liveRecheckMs), signal);
      }
    }
  }

  /** Reads what one message can hold and the feed has passed already. Nothing else of it is held while the client reads. */
  async *#catchUp(stream: LiveStream, { spaceId, signal }: LiveQuery): AsyncGenerator<TrackedMessage> {
    const after = stream.position;
    const page = await this.#catchUps(async () => {
      await sleep(this.#pacer.waitMs, undefined, { signal });
      const query = { after, filters: [stream.filter], rowsMax: liveMessageEventsMax };
      const { events, end, isComplete } = await readLivePage(this.#database, spaceId, query);
      this.#pacer.spend(liveCostsMs.message + (liveCostsMs.row + liveCostsMs.encoding) * events.length);
      return { message: toBatches(events, end)[0]?.after(after), end, isComplete };
    });
    if (page.message !== undefined) yield page.message.envelope;
    stream.position = page.end;
    if (page.isComplete) return;
    const lag = await readLag(this.#database, spaceId, page.end);
    if (lag.events <= lagEventsMax && !lag.isAtLeast) return;
    yield new EncodedMessage(lag.edge, skippedMessage(page.end, lag)).envelope;
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
