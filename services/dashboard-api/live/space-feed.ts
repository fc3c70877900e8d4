import { setTimeout as sleep } from 'node:timers/promises';
import type { Limiter } from '../../../platform/limiter.ts';
import type { Logger } from '../../../platform/log.ts';
import type { Database } from '../../../store/db/database.ts';
import { eventsPerRead, lagEventsMax } from '../../../store/tail/limits.ts';
import type { TailPosition } from '../../../store/tail/position.ts';
import { readEdge, readLag, type TailLag } from '../../../store/tail/space-commits.ts';
import {
  liveDeliveriesPerReadMax,
  liveEventsPerReadMin,
  liveLagMsMax,
  liveLateMs,
  liveReadMs,
} from './limits.ts';
import { readLiveChanges } from './live-changes.ts';
import { readLivePage } from './live-page.ts';
import type { StreamQueue } from './stream-queue.ts';

export interface FeedDependencies {
  readonly database: Database;
  /** Limits reads over all spaces of a server. */
  readonly reads: Limiter;
  readonly log: Logger;
}

/** Reads what a space stores, once for all its live streams, while there are any. */
export class SpaceFeed {
  readonly #dependencies: FeedDependencies;
  readonly #spaceId: string;
  /** Limits reads over the spaces of its server, which is known after the first poll. */
  reads: Limiter;
  readonly #queues = new Set<StreamQueue>();
  /** Everything up to here was read; undefined while the feed is stopped. */
  #position: TailPosition | undefined;
  #reading: Promise<void> | undefined;
  #woken = Promise.withResolvers<void>();
  /** The numbers of the last commit and change when they were looked up last. */
  #last: string | undefined;
  #isFailing = false;
  #isDeleted = false;

  constructor(dependencies: FeedDependencies, spaceId: string) {
    this.#dependencies = dependencies;
    this.#spaceId = spaceId;
    this.reads = dependencies.reads;
  }

  get isIdle(): boolean {
    return this.#queues.size === 0;
  }

  /** Whether the space was marked as deleted when it was looked up last. */
  get isDeleted(): boolean {
    return this.#isDeleted;
  }

  /**
   * Adds a queue, which receives everything stored after the returned position.
   * @param edge where the feed begins if it is not running yet.
   */
  async join(queue: StreamQueue, edge: TailPosition): Promise<TailPosition> {
    this.#queues.add(queue);
    // A read in progress may lack columns that the queue's predicate needs.
    await this.#reading;
    if (this.#position === undefined) {
      this.#position = edge;
      void this.#run();
    }
    queue.startAt(this.#position);
    // A stream that resumes may have missed changes, which only a read brings.
    this.wake();
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

  /** Called when the space was looked up. @param last changes with each commit and each change. */
  note({ last, isDeleted }: { last: string | undefined; isDeleted: boolean }): void {
    if (last !== this.#last || this.#isFailing) this.wake();
    this.#last = last;
    this.#isDeleted = isDeleted;
    if (isDeleted) for (const queue of this.#queues) queue.notify();
  }

  /** Postgres could not be read, or takes long: the streams say so, and go on. */
  noteFailure(): void {
    this.#isFailing = true;
    for (const queue of this.#queues) queue.isDelayed = true;
  }

  async #run(): Promise<void> {
    for (;;) {
      await this.#woken.promise;
      this.#woken = Promise.withResolvers<void>();
      if (this.isIdle || this.#position === undefined) break;
      const [after, queues] = [this.#position, [...this.#queues]];
      const late = setTimeout(() => this.noteFailure(), liveLateMs);
      this.#reading = this.reads(() => this.#read(after, queues))
        .then(() => {
          this.#isFailing = false;
        })
        .catch((error: unknown) => this.#logFailure(error))
        .finally(() => clearTimeout(late));
      await this.#reading;
      this.#reading = undefined;
      await sleep(liveReadMs);
    }
    this.#position = undefined;
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

  /**
   * Reads changes for the streams that follow them, after the page: a removed event of it is removed again.
   */
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

  #logFailure(error: unknown): void {
    const { log } = this.#dependencies;
    log.warn({ err: error, spaceId: this.#spaceId }, 'live events were not read; retrying');
    this.noteFailure();
  }
}
