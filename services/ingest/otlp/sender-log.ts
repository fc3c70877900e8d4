import { startLoop } from '../../../platform/background-loop.ts';
import type { Logger } from '../../../platform/log.ts';
import type { Database } from '../../../store/db/database.ts';
import { leaveReadOnlySession } from '../../../store/db/read-only.ts';
import {
  addCounts,
  keyOfSender,
  otherSenders,
  recordSenders,
  type SenderCounts,
} from '../../../store/senders.ts';
import { senderFlushMs, sendersHeldMax } from './limits.ts';

type Held = Map<string, Map<string, SenderCounts>>;

/**
 * Counts spans by their sender, and adds the counts to the table every few seconds: a write for each request
 * would cost too much. While Postgres is away they are held in memory. Ending without a shutdown loses those
 * of the last seconds.
 */
export class SenderLog implements AsyncDisposable {
  readonly #database: Database;
  readonly #log: Logger;
  readonly #loop: AsyncDisposable;
  #held: Held = new Map();
  #heldCount = 0;
  #flushing: Promise<void> = Promise.resolve();

  constructor(database: Database, log: Logger) {
    this.#database = database;
    this.#log = log;
    this.#loop = startLoop(
      {
        run: () => this.flush(),
        intervalMs: senderFlushMs,
        delayMs: senderFlushMs,
        failure: 'counts of senders were not written',
      },
      log,
    );
  }

  /** @param given of one request whose events are durable. */
  add(spaceId: string, given: readonly SenderCounts[]): void {
    const senders = this.#held.get(spaceId) ?? new Map<string, SenderCounts>();
    this.#held.set(spaceId, senders);
    for (const counts of given) {
      const isFull = this.#heldCount >= sendersHeldMax && !senders.has(keyOfSender(counts));
      const sender = isFull ? { ...counts, ...otherSenders } : { ...counts };
      const known = senders.get(keyOfSender(sender));
      if (known !== undefined) addCounts(known, sender);
      else {
        senders.set(keyOfSender(sender), sender);
        this.#heldCount += 1;
      }
    }
  }

  /** Writes the counts. Never rejects: what cannot be written is held until the next time. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() => this.#write());
    return this.#flushing;
  }

  async #write(): Promise<void> {
    const held = this.#held;
    this.#held = new Map();
    this.#heldCount = 0;
    for (const [spaceId, senders] of held) {
      try {
        await recordSenders(this.#database, spaceId, [...senders.values()]);
        held.delete(spaceId);
      } catch (error) {
        this.#log.warn({ err: error, spaces: held.size }, 'counts of senders could not be written');
        for (const [left, counts] of held) this.add(left, [...counts.values()]);
        await leaveReadOnlySession(this.#database.$client, error);
        return;
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]();
    await this.flush();
  }
}
