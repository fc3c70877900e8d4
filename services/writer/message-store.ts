import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../platform/log.ts';
import { ackWaitMs } from '../../platform/queue/limits.ts';
import type { Database } from '../../store/db/database.ts';
import { leaveReadOnlySession } from '../../store/db/read-only.ts';
import { QuarantineRefusedError, quarantineMessage } from '../../store/write/quarantine.ts';
import type { BacklogEntry } from './backlog.ts';
import type { Delivered } from './delivered.ts';
import { lockedDelayMsMax, lockedSpaceMs, retryDelayMs, retryDelayMsMax } from './limits.ts';
import { countRedelivery, countStoredMessage } from './metrics.ts';
import type { FailedNode } from './parts/failed-nodes.ts';
import { PartStore, type StoreListeners } from './parts/part-store.ts';

/**
 * Stores messages and settles them: an ack after COMMIT, or a nak. The methods never reject. While a message
 * is held, its ack wait is restarted, so that no other writer gets it.
 */
export class MessageStore implements Disposable {
  readonly #database: Database;
  readonly #log: Logger;
  readonly #parts: PartStore;
  readonly #held = new Set<Delivered>();
  readonly #renewal: NodeJS.Timeout;
  #lastStoredAtMs = performance.now();

  constructor(database: Database, log: Logger, listeners: StoreListeners) {
    this.#database = database;
    this.#log = log;
    this.#parts = new PartStore(database, log, listeners);
    this.#renewal = setInterval(() => {
      for (const message of this.#held) message.working();
    }, ackWaitMs / 3);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#renewal);
  }

  /** When it last stored messages, by `performance.now()`. At first: when it was made. */
  get lastStoredAtMs(): number {
    return this.#lastStoredAtMs;
  }

  /** The failed nodes of the database, and the spaces that wait for them. */
  get failedNodes(): readonly FailedNode[] {
    return this.#parts.failedNodes;
  }

  /** Holds a message until one of the other methods settles it. */
  hold(message: Delivered): void {
    if (message.deliveries > 1) countRedelivery(message.position.stream);
    this.#held.add(message);
  }

  release(messages: readonly Delivered[]): void {
    this.#settle(messages, (message) => message.nak(0));
  }

  /** Stores messages with one statement; when some events stay out of quarantine, too, each message alone. */
  async store(entries: readonly BacklogEntry<Delivered>[]): Promise<void> {
    const messages = entries.map(({ message }) => message);
    try {
      const sent = entries.flatMap(({ parts }) => parts);
      const { waiting, areNew } = await this.#parts.store(sent);
      // After the events, whose rows are then there, and before the ack: after a crash a redelivery
      // continues.
      const nodes = entries.flatMap(({ traceNodes }) => traceNodes);
      await this.#parts.storeNodes(nodes, waiting, areNew ? sent : []);
      const isWaiting = ({ parts, traceNodes }: BacklogEntry<Delivered>) =>
        [...parts, ...traceNodes].some(({ spaceId }) => waiting.has(spaceId));
      for (const entry of entries)
        this.#settle([entry.message], (message) =>
          isWaiting(entry) ? this.#wait(message) : this.#ack(message),
        );
    } catch (error) {
      if (!(error instanceof QuarantineRefusedError)) return this.#giveBack(messages, error);
      if (messages.length === 1) return this.#keepQueued(messages, error);
      for (const entry of entries) await this.store([entry]);
    }
  }

  /** Returns a message that only a newer writer can store whole. It is delivered again until there is one. */
  leaveToNewer(message: Delivered, minReader: number): void {
    this.#settle([message], () => {
      const retryInMs = Math.round(jittered(growingDelayMs(message)));
      this.#log.error({ minReader, retryInMs }, 'a message needs a newer writer; it stays in the queue');
      message.nak(retryInMs);
    });
  }

  /** Moves a message that is not a weir.queue.v1.Group to quarantine. */
  async quarantine(message: Delivered, reason: Error): Promise<void> {
    this.#log.error(
      { err: reason, bytes: message.data.length },
      'a message cannot be decoded: it goes to quarantine',
    );
    try {
      await quarantineMessage(this.#database, message.data, reason);
      this.#settle([message], () => this.#ack(message));
    } catch (error) {
      if (error instanceof QuarantineRefusedError) this.#keepQueued([message], error);
      else await this.#giveBack([message], error);
    }
  }

  #ack(message: Delivered): void {
    this.#lastStoredAtMs = performance.now();
    countStoredMessage(message.queuedAtMs);
    message.ack();
  }

  /** Returns a message of a space that waits, for redelivery after a delay. */
  #wait(message: Delivered): void {
    const delayMs = Math.min(lockedSpaceMs * 2 ** (message.deliveries - 1), lockedDelayMsMax);
    message.nak(jittered(delayMs));
  }

  /** Returns messages after a transient failure. Resolves when the worker may store again. */
  async #giveBack(messages: readonly Delivered[], error: unknown): Promise<void> {
    this.#log.warn({ err: error, messages: messages.length }, 'not stored; it will be delivered again');
    this.#settle(messages, (message) => message.nak(jittered(retryDelayMs)));
    await leaveReadOnlySession(this.#database.$client, error);
    await sleep(jittered(retryDelayMs));
  }

  /** Postgres refuses them. Kept until an operator acts, with growing delays between retries. */
  #keepQueued(messages: readonly Delivered[], { sqlstate, message: reason }: QuarantineRefusedError): void {
    this.#settle(messages, (message) => {
      const retryInMs = Math.round(jittered(growingDelayMs(message)));
      this.#log.error(
        { sqlstate, reason, deliveries: message.deliveries, retryInMs },
        'ALARM: quarantine refuses an event; its message stays in the queue',
      );
      message.nak(retryInMs);
    });
  }

  #settle(messages: readonly Delivered[], settle: (message: Delivered) => void): void {
    for (const message of messages) {
      this.#held.delete(message);
      settle(message);
    }
  }
}

/** Doubles with each delivery. */
function growingDelayMs({ deliveries }: Delivered): number {
  return Math.min(retryDelayMs * 2 ** (deliveries - 1), retryDelayMsMax);
}

/** Adds up to 50%, so that workers and processes that failed together do not retry together. */
function jittered(delayMs: number): number {
  return delayMs * (1 + Math.random() / 2);
}
