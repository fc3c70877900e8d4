import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../../lib/db/database.ts';
import type { Logger } from '../../../lib/log.ts';
import type { EventFilter } from '../../../lib/read/event-filter.ts';
import { lagEventsMax } from '../../../lib/tail/limits.ts';
import { comparePositions, type TailPosition } from '../../../lib/tail/position.ts';
import { readLag } from '../../../lib/tail/stored-entries.ts';
import { EncodedMessage } from './encoded-message.ts';
import {
  liveCostsMs,
  liveDelayedMs,
  liveHeldBackPollMs,
  liveLagMsMax,
  liveMessageEventsMax,
  livePollMs,
  liveReadCostMsMax,
} from './limits.ts';
import { type LiveBatch, toBatches } from './live-batch.ts';
import { skippedMessage } from './live-message.ts';
import { type LivePage, readLivePage } from './live-page.ts';
import type { Pacer } from './pacer.ts';

/** A stream that gets what the feed reads. */
export interface FeedMember {
  /** Equal for equal filters. */
  readonly filterKey: string;
  readonly filter: EventFilter;
  /** Events that match the filter, and the position up to which there are no others. */
  receive(batches: readonly LiveBatch[], end: TailPosition): void;
  /** The feed goes on where the message, of skipped events, ends. */
  skip(message: EncodedMessage): void;
  /** The feed cannot serve this member now: it has to catch up by itself, and to join again. */
  part(): void;
  setDelayed(isDelayed: boolean): void;
}

export interface FeedDependencies {
  database: Database;
  pacer: Pacer;
  log: Logger;
}

/**
 * Reads what a space stores, once for all its live streams: with one statement for all their filters. It runs while it has
 * members.
 */
export class SpaceFeed {
  readonly #dependencies: FeedDependencies;
  readonly #spaceId: string;
  readonly #members = new Set<FeedMember>();
  #position: TailPosition | undefined;
  #woken = Promise.withResolvers<void>();
  #heldBackSinceMs: number | undefined;
  #isDelayed = false;
  #retryMs = 0;

  constructor(dependencies: FeedDependencies, spaceId: string) {
    this.#dependencies = dependencies;
    this.#spaceId = spaceId;
  }

  /** Streams that hold this feed, members or not. */
  users = 0;

  get isIdle(): boolean {
    return this.#members.size === 0;
  }

  /**
   * Adds a member that has everything up to a position. Members that join drop what they have already.
   *
   * @returns false when the feed is ahead: the member has to read up to the edge first.
   */
  join(member: FeedMember, position: TailPosition): boolean {
    if (this.#position !== undefined && comparePositions(this.#position, position) > 0) return false;
    this.#members.add(member);
    member.setDelayed(this.#isDelayed);
    if (this.#position === undefined) {
      this.#position = position;
      void this.#run();
    }
    this.wake();
    return true;
  }

  leave(member: FeedMember): void {
    this.#members.delete(member);
    if (this.isIdle) this.wake();
  }

  /** Something was stored. */
  wake(): void {
    this.#woken.resolve();
  }

  async #run(): Promise<void> {
    let pollMs = 0;
    while (!this.isIdle && this.#position !== undefined) {
      await this.#wait(pollMs);
      if (this.isIdle) break;
      pollMs = await this.#read(this.#position).catch((error: unknown) => {
        this.#dependencies.log.warn(
          { err: error, spaceId: this.#spaceId },
          'live events were not read; retrying',
        );
        this.#noteHeldBack(true);
        return livePollMs;
      });
    }
    this.#position = undefined;
  }

  /** Until something was stored, or the time is over; and until the work before is paid for. */
  async #wait(pollMs: number): Promise<void> {
    const timer = new AbortController();
    const slept = sleep(pollMs, undefined, { signal: timer.signal }).catch(() => {});
    await Promise.race([this.#woken.promise, slept]);
    timer.abort();
    const { waitMs } = this.#dependencies.pacer;
    if (waitMs > 0) await sleep(waitMs);
    this.#woken = Promise.withResolvers<void>();
  }

  /** @returns how long to wait for the next read if nothing is stored. */
  async #read(after: TailPosition): Promise<number> {
    const { database } = this.#dependencies;
    const filters = new Map([...this.#members].map(({ filterKey, filter }) => [filterKey, filter]));
    const page = await readLivePage(database, this.#spaceId, {
      after,
      filters: [...filters.values()],
      rowsMax: this.#rowsMax,
    });
    this.#position = page.end;
    this.#deliver(page, [...filters.keys()]);
    this.#noteHeldBack(page.edge.isHeldBack);
    if (!page.isComplete) {
      await this.#skipIfFarBehind(page.end);
      return 0;
    }
    this.#retryMs = page.edge.isHeldBack
      ? Math.min(Math.max(liveHeldBackPollMs, 2 * this.#retryMs), livePollMs)
      : 0;
    return page.edge.isHeldBack ? this.#retryMs : livePollMs;
  }

  #deliver({ events, end }: LivePage, filterKeys: readonly string[]): void {
    const byKey = new Map(
      filterKeys.map((key, place) => {
        const matching = events.filter(({ matches }) => matches[place] === '1');
        return [key, { count: matching.length, batches: toBatches(matching, end) }];
      }),
    );
    let costMs = liveCostsMs.row * events.length;
    for (const { count } of byKey.values()) costMs += liveCostsMs.encoding * count;
    for (const member of this.#members) {
      const matching = byKey.get(member.filterKey);
      // It joined while this was read.
      if (matching === undefined) {
        this.#members.delete(member);
        member.part();
        continue;
      }
      costMs += liveCostsMs.message * matching.batches.length + liveCostsMs.delivery * matching.count;
      member.receive(matching.batches, end);
    }
    this.#dependencies.pacer.spend(costMs);
  }

  async #skipIfFarBehind(after: TailPosition): Promise<void> {
    const lag = await readLag(this.#dependencies.database, this.#spaceId, after);
    const lagMax = Math.min(lagEventsMax, liveLagMsMax / this.#eventCostMs);
    if (lag.events <= lagMax && !lag.isAtLeast) return;
    this.#position = lag.edge;
    const message = new EncodedMessage(lag.edge, skippedMessage(after, lag));
    for (const member of this.#members) member.skip(message);
  }

  /** What an event costs when every member gets it. */
  get #eventCostMs(): number {
    const filters = new Set([...this.#members].map(({ filterKey }) => filterKey)).size;
    const perMember = liveCostsMs.delivery + liveCostsMs.message / liveMessageEventsMax;
    return liveCostsMs.row + liveCostsMs.encoding * filters + perMember * this.#members.size;
  }

  get #rowsMax(): number {
    const restMs = liveReadCostMsMax - liveCostsMs.message * this.#members.size;
    return Math.max(liveRowsMin, Math.floor(restMs / this.#eventCostMs));
  }

  #noteHeldBack(isHeldBack: boolean): void {
    const nowMs = performance.now();
    this.#heldBackSinceMs = isHeldBack ? (this.#heldBackSinceMs ?? nowMs) : undefined;
    const isDelayed = this.#heldBackSinceMs !== undefined && nowMs - this.#heldBackSinceMs >= liveDelayedMs;
    if (isDelayed === this.#isDelayed) return;
    this.#isDelayed = isDelayed;
    for (const member of this.#members) member.setDelayed(isDelayed);
  }
}

/** Events that a read delivers, however many streams there are. */
const liveRowsMin = 20;
