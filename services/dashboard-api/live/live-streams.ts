import { setTimeout as sleep } from 'node:timers/promises';
import { type Limiter, openLimiter } from '../../../platform/limiter.ts';
import type { Logger } from '../../../platform/log.ts';
import { listKeptSpaces } from '../../../store/accounts/spaces.ts';
import type { Database } from '../../../store/db/database.ts';
import { Placements } from '../../../store/db/layout/placements.ts';
import type { EventFilter } from '../../../store/read/event-filter.ts';
import { createPredicate } from '../../../store/read/event-predicate.ts';
import { readLastChange } from '../../../store/tail/event-changes.ts';
import { lagEventsMax } from '../../../store/tail/limits.ts';
import { comparePositions, type TailPosition } from '../../../store/tail/position.ts';
import { isKnownPosition, readEdge, readLag, readLastNumbers } from '../../../store/tail/space-commits.ts';
import {
  liveCatchUpsMax,
  liveCheckSharedMs,
  liveLateMs,
  liveMessageEventsMax,
  livePollMs,
  livePositionMs,
  liveReadsMax,
} from './limits.ts';
import { skippedMessage, type TrackedMessage, toTracked } from './live-message.ts';
import { readMatching, toEventMessages } from './live-page.ts';
import { SpaceFeed } from './space-feed.ts';
import { type StreamFilter, StreamQueue } from './stream-queue.ts';

export interface LiveQuery {
  spaceId: string;
  filter: EventFilter;
  /** The position to resume from; undefined to start with events stored from now on. */
  after: TailPosition | undefined;
  /** Whether the stream also has the changes of stored events. */
  hasChanges: boolean;
  signal: AbortSignal;
  /** The session or read key. Streams of one caller in one space share their checks. */
  callerId: string;
  /** Called every `recheckMs`, and when the space is deleted. @throws TRPCError when access is lost. */
  checkAccess: () => Promise<void>;
  recheckMs: number;
}

export class LiveStreams {
  readonly #database: Database;
  readonly #log: Logger;
  readonly #queued = { bytes: 0 };
  readonly #placements: Placements;
  readonly #reads = new Map<string, Limiter>();
  /** The servers whose poll has not ended. */
  readonly #polled = new Set<string>();
  readonly #catchUps: Limiter = openLimiter(liveCatchUpsMax);
  readonly #feeds = new Map<string, SpaceFeed>();
  /** By caller and space. */
  readonly #checks = new Map<string, Promise<void>>();
  #isPolling = false;

  constructor(database: Database, log: Logger) {
    this.#database = database;
    this.#placements = new Placements(database);
    this.#log = log;
  }

  /** Called when a writer has stored events in the space. */
  wake(spaceId: string): void {
    this.#feeds.get(spaceId)?.wake();
  }

  /**
   * Yields messages until the signal, in bounded bytes: slow readers get `skipped`. @throws as `checkAccess`.
   */
  async *open(query: LiveQuery): AsyncGenerator<TrackedMessage, void> {
    const { spaceId, filter, signal } = query;
    const predicate = createPredicate(filter);
    const edge = await readEdge(this.#database, spaceId);
    const isLost =
      query.after !== undefined && !(await isKnownPosition(this.#database, spaceId, query.after));
    const last = query.hasChanges ? await readLastChange(this.#database, spaceId) : undefined;
    // After a restore of the database the client may know more changes than there are.
    const change = last === undefined ? undefined : Math.min(query.after?.change ?? last, last);
    const after = { ...(isLost ? edge : (query.after ?? edge)), change };
    const stream = { filter, predicate };
    using queue = new StreamQueue(stream, after, this.#queued);
    const feed = this.#feedOf(spaceId);
    signal.addEventListener('abort', () => queue.notify());
    try {
      const joined = await feed.join(queue, edge);
      if (isLost && query.after !== undefined)
        yield skippedMessage(
          { after: query.after, end: { ...edge, change } },
          { events: null, isAtLeast: false },
        );
      yield* this.#catchUp(spaceId, stream, { after, until: joined });
      yield* this.#follow(feed, queue, query);
    } finally {
      feed.leave(queue);
      if (feed.isIdle) this.#feeds.delete(spaceId);
    }
  }

  /** What was stored between two positions. */
  async *#catchUp(
    spaceId: string,
    stream: StreamFilter,
    { after, until }: { after: TailPosition; until: TailPosition },
  ): AsyncGenerator<TrackedMessage> {
    if (comparePositions(after, until) >= 0) return;
    const lag = await readLag(this.#database, spaceId, after);
    const { change } = after;
    const end = { ...until, change };
    if (lag.events > lagEventsMax || lag.isAtLeast) return yield skippedMessage({ after, end }, lag);
    for (let position = after; comparePositions(position, until) < 0; ) {
      const query = { ...stream, after: position, until, limit: liveMessageEventsMax };
      const page = await this.#catchUps(() => readMatching(this.#database, spaceId, query));
      if (page === undefined)
        return yield skippedMessage({ after: position, end }, { events: null, isAtLeast: false });
      for (const { message, end: reached } of toEventMessages(page.events, page.end))
        yield toTracked({ ...page.end, ...reached, change }, message);
      position = page.end;
    }
  }

  /** What is stored from now on. */
  async *#follow(
    feed: SpaceFeed,
    queue: StreamQueue,
    { signal, recheckMs, ...query }: LiveQuery,
  ): AsyncGenerator<TrackedMessage> {
    let checkedAtMs = performance.now();
    let sentAtMs = checkedAtMs;
    let { isDelayed } = queue;
    yield toTracked(queue.position, { type: 'status', isDelayed });
    while (!signal.aborted) {
      if (feed.isDeleted || performance.now() - checkedAtMs >= recheckMs) {
        await this.#check(query);
        checkedAtMs = performance.now();
      }
      const message = queue.take();
      if (message !== undefined) {
        yield message;
        sentAtMs = performance.now();
      } else if (queue.isDelayed !== isDelayed || performance.now() - sentAtMs >= livePositionMs) {
        isDelayed = queue.isDelayed;
        yield toTracked(queue.position, { type: 'status', isDelayed });
        sentAtMs = performance.now();
      } else {
        await queue.wait(Math.min(livePositionMs, recheckMs));
      }
    }
  }

  /** Hundreds of streams of one read key would each ask Postgres, and let the calls of others wait. */
  #check({
    callerId,
    spaceId,
    checkAccess,
  }: Pick<LiveQuery, 'callerId' | 'spaceId' | 'checkAccess'>): Promise<void> {
    const key = `${callerId} ${spaceId}`;
    const shared = this.#checks.get(key);
    if (shared !== undefined) return shared;
    const forget = () => setTimeout(() => this.#checks.delete(key), liveCheckSharedMs).unref();
    const check = checkAccess();
    this.#checks.set(key, check);
    check.then(forget, forget);
    return check;
  }

  #feedOf(spaceId: string): SpaceFeed {
    const existing = this.#feeds.get(spaceId);
    if (existing !== undefined) return existing;
    const reads = this.#readsOf('');
    const feed = new SpaceFeed({ database: this.#database, reads, log: this.#log }, spaceId);
    this.#feeds.set(spaceId, feed);
    if (!this.#isPolling) void this.#pollWhileOpen();
    return feed;
  }

  async #pollWhileOpen(): Promise<void> {
    this.#isPolling = true;
    while (this.#feeds.size > 0) {
      await this.#poll();
      await sleep(livePollMs, undefined, { ref: false });
    }
    this.#isPolling = false;
  }

  /**
   * Polls by a few statements for all: one for each of a thousand idle streams would keep two cores busy.
   * Each server is asked for its own spaces, so that one that fails or hangs delays no others.
   */
  async #poll(): Promise<void> {
    const feeds = new Map(this.#feeds);
    try {
      const kept = await listKeptSpaces(this.#database, [...feeds.keys()]);
      const groups = await this.#placements.group(feeds.keys());
      const polls = Array.from(groups ?? [['', new Set(feeds.keys())] as const], ([server, spaceIds]) => {
        const own = [...feeds].filter(([spaceId]) => spaceIds.has(spaceId));
        for (const [, feed] of own) feed.reads = this.#readsOf(server);
        return this.#pollServer(server, own, kept);
      });
      if (groups === undefined) await Promise.all(polls);
    } catch (error) {
      this.#noteFailure(error, [...feeds.values()]);
    }
  }

  /** Polls the spaces of one server, unless the last poll of it has not ended. */
  async #pollServer(
    server: string,
    feeds: readonly (readonly [string, SpaceFeed])[],
    kept: ReadonlySet<string>,
  ): Promise<void> {
    if (this.#polled.has(server)) return;
    this.#polled.add(server);
    const all = feeds.map(([, feed]) => feed);
    const late = setTimeout(() => noteFailures(all), liveLateMs);
    try {
      const last = await readLastNumbers(
        this.#database,
        feeds.map(([spaceId]) => spaceId),
      );
      for (const [spaceId, feed] of feeds)
        feed.note({ last: last.get(spaceId), isDeleted: !kept.has(spaceId) });
    } catch (error) {
      this.#noteFailure(error, all);
    } finally {
      clearTimeout(late);
      this.#polled.delete(server);
    }
  }

  #noteFailure(error: unknown, feeds: readonly SpaceFeed[]): void {
    this.#log.warn({ err: error, spaces: feeds.length }, 'live streams were not looked up; retrying');
    noteFailures(feeds);
  }

  /** Limits reads by server: those of one that hangs leave others their places. */
  #readsOf(server: string): Limiter {
    const known = this.#reads.get(server) ?? openLimiter(liveReadsMax);
    this.#reads.set(server, known);
    return known;
  }
}

function noteFailures(feeds: readonly SpaceFeed[]): void {
  for (const feed of feeds) feed.noteFailure();
}
