import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../lib/db/database.ts';
import { leaveReadOnlySession } from '../../lib/db/read-only.ts';
import type { Logger } from '../../lib/log.ts';
import type { Part, TraceNodes } from '../../lib/queue/group.ts';
import { ackWaitMs } from '../../lib/queue/limits.ts';
import { resolveTraces } from '../../lib/traces/resolve-traces.ts';
import { storeNodes } from '../../lib/traces/store-nodes.ts';
import { permanentErrorOf } from '../../lib/write/permanent-error.ts';
import { QuarantineRefusedError, quarantineMessage } from '../../lib/write/quarantine.ts';
import { separateKnown } from '../../lib/write/repeats.ts';
import { storeParts } from '../../lib/write/store.ts';
import type { BacklogEntry } from './backlog.ts';
import type { Delivered } from './delivered.ts';
import {
  lockedDelayMsMax,
  lockedSpaceMs,
  lockedSpacesMax,
  repeatsExpectedMs,
  retryDelayMs,
  retryDelayMsMax,
} from './limits.ts';
import { isLockTimeout, LockedSpaces } from './locked-spaces.ts';
import { countEvents, countRedelivery, countStatement, countStoredMessage } from './metrics.ts';

/**
 * Stores messages and settles them: each is acknowledged after its COMMIT, or returned with a nak. Its methods never reject.
 *
 * While a message is held, its ack wait is restarted every few seconds, so that no other writer gets it.
 */
export class MessageStore implements Disposable {
  readonly #database: Database;
  readonly #log: Logger;
  readonly #onStored: (spaceIds: Iterable<string>) => void;
  readonly #held = new Set<Delivered>();
  readonly #locked = new LockedSpaces();
  readonly #renewal: NodeJS.Timeout;
  /** Until then batches are expected to mix stored and new events (`repeatsExpectedMs`). */
  #repeatsUntilMs = 0;
  #lastStoredAtMs = performance.now();

  /** @param onStored called after each COMMIT, with the spaces that the statement stored events of. */
  constructor(database: Database, log: Logger, onStored: (spaceIds: Iterable<string>) => void) {
    this.#database = database;
    this.#log = log;
    this.#onStored = onStored;
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

  /** Holds a message until one of the other methods settles it. */
  hold(message: Delivered): void {
    if (message.deliveries > 1) countRedelivery(message.position.stream);
    this.#held.add(message);
  }

  /** Returns messages for immediate redelivery. */
  release(messages: readonly Delivered[]): void {
    this.#settle(messages, (message) => message.nak(0));
  }

  /**
   * Stores messages with one statement. When one of them has events that neither the tables nor quarantine accept, each
   * message is stored alone, so that only that one stays in the queue.
   */
  async store(entries: readonly BacklogEntry<Delivered>[]): Promise<void> {
    const messages = entries.map(({ message }) => message);
    try {
      const waiting = await this.#storeUnlocked(entries.flatMap(({ parts }) => parts));
      // After the events, so that their rows are there, and before the ack: after a crash a redelivery continues.
      await this.#storeNodes(
        entries.flatMap(({ traceNodes }) => traceNodes),
        waiting,
      );
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

  /**
   * Stores the parts whose spaces are not locked. After a lock time-out the spaces are stored one by one, so that only those
   * with locked rows have to wait.
   *
   * @returns the spaces whose parts are not stored.
   */
  async #storeUnlocked(parts: readonly Part[]): Promise<Set<string>> {
    const bySpace = Map.groupBy(parts, ({ spaceId }) => spaceId);
    const waiting = new Set([...bySpace.keys()].filter((spaceId) => this.#locked.mustWait(spaceId)));
    const open = parts.filter(({ spaceId }) => !waiting.has(spaceId));
    if (open.length === 0 || (await this.#storeIfUnlocked(open))) return waiting;
    const openSpaces = [...bySpace].filter(([spaceId]) => !waiting.has(spaceId));
    let inARow = 0;
    for (const [spaceId, own] of openSpaces) {
      const isTried = inARow < lockedSpacesMax;
      if (isTried && openSpaces.length > 1 && (await this.#storeIfUnlocked(own))) {
        inARow = 0;
        continue;
      }
      inARow += 1;
      waiting.add(spaceId);
      if (isTried) this.#locked.note(spaceId);
    }
    this.#log.warn({ spaces: waiting.size }, 'rows of spaces are locked; their events will be stored later');
    return waiting;
  }

  /** @returns false after a lock time-out: nothing is stored. */
  async #storeIfUnlocked(parts: readonly Part[]): Promise<boolean> {
    const startedMs = performance.now();
    try {
      await this.#storeLogged(parts, startedMs);
      countStatement('stored', startedMs);
      for (const { spaceId } of parts) this.#locked.forget(spaceId);
      return true;
    } catch (error) {
      const isLocked = isLockTimeout(error);
      countStatement(isLocked ? 'locked' : 'failed', startedMs);
      if (isLocked) return false;
      throw error;
    }
  }

  /** Stores spans of traces, and resolves their traces. Spaces with locked rows are added to `waiting`. */
  async #storeNodes(nodes: readonly TraceNodes[], waiting: Set<string>): Promise<void> {
    for (const [spaceId, own] of Map.groupBy(nodes, (one) => one.spaceId)) {
      if (waiting.has(spaceId)) continue;
      if (this.#locked.mustWait(spaceId)) {
        waiting.add(spaceId);
        continue;
      }
      try {
        await resolveTraces(this.#database, spaceId, await storeNodes(this.#database, spaceId, own));
      } catch (error) {
        if (isLockTimeout(error)) {
          waiting.add(spaceId);
          this.#locked.note(spaceId);
        } else if (permanentErrorOf(error) === undefined) throw error;
        // Its events are stored. Spans that Postgres rejects would keep their message in the queue forever.
        else
          this.#log.error(
            { err: error, spaceId },
            'ALARM: spans of traces were rejected, and are not stored',
          );
      }
    }
  }

  async #storeLogged(parts: readonly Part[], startedMs: number): Promise<void> {
    const isExpected = startedMs < this.#repeatsUntilMs;
    const separated = isExpected ? await separateKnown(this.#database, parts) : parts;
    const result = await storeParts(this.#database, separated);
    const { inserted, quarantined, hadKnown } = result;
    if (hadKnown || separated.length > parts.length) this.#repeatsUntilMs = startedMs + repeatsExpectedMs;
    if (inserted > 0) this.#onStored(new Set(parts.map(({ spaceId }) => spaceId)));
    const events = parts.reduce((sum, part) => sum + part.eventCount, 0);
    countEvents(events, result);
    const ms = Math.round(performance.now() - startedMs);
    this.#log[quarantined > 0 ? 'error' : 'debug'](
      { segments: parts.map(({ segmentId }) => segmentId), events, inserted, quarantined, ms },
      'stored',
    );
  }

  #ack(message: Delivered): void {
    this.#lastStoredAtMs = performance.now();
    countStoredMessage(message.queuedAtMs);
    message.ack();
  }

  /** Returns a message of a locked space, for redelivery after a delay. */
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

  /** Returns messages that Postgres refuses. The queue keeps them until an operator acts; the delay between retries grows. */
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

/** Adds up to 50 %, so that workers and processes that failed together do not retry together. */
function jittered(delayMs: number): number {
  return delayMs * (1 + Math.random() / 2);
}
