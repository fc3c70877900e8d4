import { setTimeout as sleep } from 'node:timers/promises';
import { isSpaceDeleted } from '../../../lib/accounts/spaces.ts';
import type { Database } from '../../../lib/db/database.ts';
import type { Limiter } from '../../../lib/limiter.ts';
import type { Logger } from '../../../lib/log.ts';
import { eventsPerRead, lagEventsMax } from '../../../lib/tail/limits.ts';
import type { TailPosition } from '../../../lib/tail/position.ts';
import { readEdge, readLag, type TailLag } from '../../../lib/tail/space-commits.ts';
import {
  liveDeletionLookMs,
  liveDeliveriesPerReadMax,
  liveEventsPerReadMin,
  liveLagMsMax,
  livePollMs,
  liveReadMs,
} from './limits.ts';
import { readLiveChanges } from './live-changes.ts';
import { readLivePage } from './live-page.ts';
import type { StreamQueue } from './stream-queue.ts';

export interface FeedDependencies {
  readonly database: Database;
  /** Limits reads over all spaces. */
  readonly reads: Limiter;
  readonly log: Logger;
}

/** Reads what a space stores, once for all its live streams. It runs while the space has any. */
export class SpaceFeed {
  readonly #dependencies: FeedDependencies;
  readonly #spaceId: string;
  readonly #queues = new Set<StreamQueue>();
  /** Everything up to here was read; undefined while the feed is stopped. */
  #position: TailPosition | undefined;
  #reading: Promise<void> | undefined;
  #woken = Promise.withResolvers<void>();
  #isWatching = false;
  /** Whether the space was marked as deleted when it was looked up last. */
  isDeleted = false;

  constructor(dependencies: FeedDependencies, spaceId: string) {
    this.#dependencies = dependencies;
    this.#spaceId = spaceId;
  }

  get isIdle(): boolean {
    return this.#queues.size === 0;
  }

  /**
   * Adds a queue, which receives everything stored after the returned position.
   *
   * @param edge where the feed begins if it is not running yet.
   * @returns the position.
   */
  async join(queue: StreamQueue, edge: TailPosition): Promise<TailPosition> {
    this.#queues.add(queue);
    if (!this.#isWatching) void this.#watchDeletion();
    // A read in progress does not count for this queue: it may lack columns that its predicate needs.
    await this.#reading;
    if (this.#position === undefined) {
      this.#position = edge;
      void this.#run();
    }
    queue.startAt(this.#position);
    return this.#position;
  }

  leave(queue: StreamQueue): void {
    this.#queues.delete(queue);
    if (this.isIdle) this.wake();
  }

  /** Called when events were stored. */
  wake(): void {
    this.#woken.resolve();
  }

  async #run(): Promise<void> {
    for (;;) {
      const timer = setTimeout(() => this.wake(), livePollMs);
      await this.#woken.promise;
      clearTimeout(timer);
      this.#woken = Promise.withResolvers<void>();
      if (this.isIdle || this.#position === undefined) break;
      const [after, queues] = [this.#position, [...this.#queues]];
      this.#reading = this.#dependencies
        .reads(() => this.#read(after, queues))
        .catch((error: unknown) => this.#noteFailure(error));
      await this.#reading;
      this.#reading = undefined;
      await sleep(liveReadMs);
    }
    this.#position = undefined;
  }

  async #watchDeletion(): Promise<void> {
    this.#isWatching = true;
    while (!this.isIdle) {
      // While Postgres cannot be read, streams go on.
      this.isDeleted = await isSpaceDeleted(this.#dependencies.database, this.#spaceId).catch(() => false);
      if (this.isDeleted) for (const queue of this.#queues) queue.notify();
      await sleep(liveDeletionLookMs, undefined, { ref: false });
    }
    this.#isWatching = false;
  }

  async #read(after: TailPosition, queues: readonly StreamQueue[]): Promise<void> {
    const { database } = this.#dependencies;
    const filters = queues.map(({ filter }) => filter);
    const page = await readLivePage(database, this.#spaceId, { after, filters, rowsMax: this.#rowsMax });
    const skipped =
      page === undefined
        ? { events: null, isAtLeast: false }
        : page.isComplete
          ? undefined
          : await this.#findFarBehind(page.end);
    const edge = skipped && (await readEdge(database, this.#spaceId));
    this.#position = edge ?? page?.end ?? after;
    for (const queue of queues) {
      // The stream may have ended while the page was read.
      if (!this.#queues.has(queue)) continue;
      if (page !== undefined) queue.receive(page);
      if (edge !== undefined && skipped !== undefined) queue.skip(edge, skipped);
      queue.isDelayed = false;
    }
    if (page?.isComplete === false) this.wake();
    await this.#readChanges(queues);
  }

  /** Reads changes of stored events for the streams that follow them. After the page: a removed event of it is removed again. */
  async #readChanges(queues: readonly StreamQueue[]): Promise<void> {
    const following = queues.filter(({ change }) => change !== undefined);
    if (following.length === 0) return;
    const after = Math.min(...following.flatMap(({ change }) => change ?? []));
    const filters = following.map(({ filter }) => filter);
    const changes = await readLiveChanges(this.#dependencies.database, this.#spaceId, { after, filters });
    for (const queue of following) if (this.#queues.has(queue)) queue.receiveChanges(changes);
    if (!changes.isComplete) this.wake();
  }

  /** @returns how much is stored after a position, if it is too much to read; otherwise undefined. */
  async #findFarBehind(after: TailPosition): Promise<TailLag | undefined> {
    const lag = await readLag(this.#dependencies.database, this.#spaceId, after);
    const lagMax = Math.min(lagEventsMax, this.#rowsMax * (liveLagMsMax / liveReadMs));
    return lag.events > lagMax || lag.isAtLeast ? lag : undefined;
  }

  get #rowsMax(): number {
    const rows = Math.floor(liveDeliveriesPerReadMax / this.#queues.size);
    return Math.min(eventsPerRead, Math.max(liveEventsPerReadMin, rows));
  }

  #noteFailure(error: unknown): void {
    const { log } = this.#dependencies;
    log.warn({ err: error, spaceId: this.#spaceId }, 'live events were not read; retrying');
    for (const queue of this.#queues) queue.isDelayed = true;
  }
}
