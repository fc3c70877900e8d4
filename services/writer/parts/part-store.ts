import type { Logger } from '../../../platform/log.ts';
import type { Part, TraceNodes } from '../../../platform/queue/group.ts';
import type { Database } from '../../../store/db/database.ts';
import { storeMedia } from '../../../store/media/store-media.ts';
import { storeEvaluations } from '../../../store/notes/evaluation-notes.ts';
import { storeNodes } from '../../../store/traces/store-nodes.ts';
import { permanentErrorOf } from '../../../store/write/permanent-error.ts';
import { separateKnown } from '../../../store/write/repeats.ts';
import { storeParts } from '../../../store/write/store.ts';
import { lockedSpacesMax, repeatsExpectedMs } from '../limits.ts';
import { countEvents, countStatement } from '../metrics.ts';
import { type FailedNode, FailedNodes, isNodeFailure } from './failed-nodes.ts';
import { isLockTimeout, LockedSpaces } from './locked-spaces.ts';

export interface StoreListeners {
  /** Called after each COMMIT, with the parts that it stored. */
  readonly onStored: (parts: readonly Part[]) => void;
  /** Called after a COMMIT that made traces unresolved. */
  readonly onUnresolved: () => void;
}

export interface StoredParts {
  readonly waiting: Set<string>;
  /** Whether all events of the others were new. */
  areNew: boolean;
}

/** Stores parts, except of spaces whose rows are locked, or on a failed node: they delay no others. */
export class PartStore {
  readonly #database: Database;
  readonly #log: Logger;
  readonly #listeners: StoreListeners;
  readonly #locked = new LockedSpaces();
  readonly #failed: FailedNodes;
  /** Until then batches are expected to mix stored and new events (`repeatsExpectedMs`). */
  #repeatsUntilMs = 0;

  constructor(database: Database, log: Logger, listeners: StoreListeners) {
    this.#database = database;
    this.#log = log;
    this.#listeners = listeners;
    this.#failed = new FailedNodes(database, log);
  }

  get failedNodes(): readonly FailedNode[] {
    return this.#failed.list();
  }

  async store(parts: readonly Part[]): Promise<StoredParts> {
    const spaceIds = new Set(parts.map(({ spaceId }) => spaceId));
    const locked = [...spaceIds].filter((spaceId) => this.#locked.mustWait(spaceId));
    const { groups, waiting } = await this.#failed.divide(spaceIds.difference(new Set(locked)));
    for (const spaceId of locked) waiting.add(spaceId);
    const stored: StoredParts = { waiting, areNew: true };
    try {
      for (const group of groups) await this.#storeGroup(parts, group, stored);
    } finally {
      this.#failed.endTries(groups);
    }
    return stored;
  }

  /**
   * Spaces that have to wait are added to `waiting`.
   * @param newParts parts of which all events were stored for the first time.
   */
  async storeNodes(
    nodes: readonly TraceNodes[],
    waiting: Set<string>,
    newParts: readonly Part[],
  ): Promise<void> {
    const newOf = Map.groupBy(newParts, ({ spaceId }) => spaceId);
    for (const [spaceId, own] of Map.groupBy(nodes, (one) => one.spaceId)) {
      if (waiting.has(spaceId)) continue;
      if (this.#locked.mustWait(spaceId)) {
        waiting.add(spaceId);
        continue;
      }
      try {
        const isUnresolved = await storeNodes(this.#database, spaceId, {
          sent: own,
          newParts: newOf.get(spaceId),
        });
        const evaluations = await storeEvaluations(this.#database, spaceId, own);
        if (isUnresolved || evaluations.isUnresolved) this.#listeners.onUnresolved();
        const missing = await storeMedia(this.#database, spaceId, own);
        if (missing > 0)
          this.#log.warn({ spaceId, missing }, 'media of spans were erased before their next use was stored');
        const { refused } = evaluations;
        if (refused > 0)
          this.#log.warn(
            { spaceId, refused },
            'notes were not stored: there are too many, or none may be on their event',
          );
      } catch (error) {
        if (isLockTimeout(error)) {
          waiting.add(spaceId);
          this.#locked.note(spaceId);
        } else if (permanentErrorOf(error) === undefined)
          await this.#noteFailure(new Set([spaceId]), waiting, error);
        // Events are stored. Spans that Postgres rejects would keep their message in the queue forever.
        else
          this.#log.error(
            { err: error, spaceId },
            'ALARM: spans of traces, or what was sent with them, were rejected, and are not stored',
          );
      }
    }
  }

  /** Stores the parts of spaces of one node. After a failure these spaces wait. */
  async #storeGroup(
    parts: readonly Part[],
    spaceIds: ReadonlySet<string>,
    stored: StoredParts,
  ): Promise<void> {
    const own = parts.filter(({ spaceId }) => spaceIds.has(spaceId));
    if (own.length === 0) return;
    try {
      await this.#storeUnlocked(own, stored);
    } catch (error) {
      await this.#noteFailure(spaceIds, stored.waiting, error);
    }
  }

  /** Lets spaces of one node wait. @throws the error without Citus, or when it is of another kind. */
  async #noteFailure(spaceIds: ReadonlySet<string>, waiting: Set<string>, error: unknown): Promise<void> {
    if (!isNodeFailure(error)) throw error;
    const byNode = await this.#failed.groupByNode(spaceIds);
    if (byNode === undefined) throw error;
    for (const [node, own] of byNode) this.#failed.note(node, own, error);
    for (const spaceId of spaceIds) waiting.add(spaceId);
  }

  /** Stores spaces one by one after a lock time-out, so that only those with locked rows have to wait. */
  async #storeUnlocked(parts: readonly Part[], stored: StoredParts): Promise<void> {
    if (await this.#storeIfUnlocked(parts, stored)) return;
    const { waiting } = stored;
    const bySpace = Map.groupBy(parts, ({ spaceId }) => spaceId);
    let inARow = 0;
    for (const [spaceId, own] of bySpace) {
      const isTried = inARow < lockedSpacesMax;
      if (isTried && bySpace.size > 1 && (await this.#storeIfUnlocked(own, stored))) {
        inARow = 0;
        continue;
      }
      inARow += 1;
      waiting.add(spaceId);
      if (isTried) this.#locked.note(spaceId);
    }
    this.#log.warn({ spaces: waiting.size }, 'rows of spaces are locked; their events will be stored later');
  }

  /** @returns false after a lock time-out: nothing is stored. */
  async #storeIfUnlocked(parts: readonly Part[], stored: StoredParts): Promise<boolean> {
    const startedMs = performance.now();
    try {
      if (!(await this.#storeLogged(parts, startedMs))) stored.areNew = false;
      countStatement('stored', startedMs);
      const spaceIds = new Set(parts.map(({ spaceId }) => spaceId));
      for (const spaceId of spaceIds) this.#locked.forget(spaceId);
      this.#failed.forget(spaceIds);
      return true;
    } catch (error) {
      const isLocked = isLockTimeout(error);
      countStatement(isLocked ? 'locked' : 'failed', startedMs);
      if (isLocked) return false;
      throw error;
    }
  }

  /** @returns whether all events were new. */
  async #storeLogged(parts: readonly Part[], startedMs: number): Promise<boolean> {
    const isExpected = startedMs < this.#repeatsUntilMs;
    const separated = isExpected ? await separateKnown(this.#database, parts) : parts;
    const result = await storeParts(this.#database, separated);
    const { inserted, quarantined, hadKnown } = result;
    if (hadKnown || separated.length > parts.length) this.#repeatsUntilMs = startedMs + repeatsExpectedMs;
    if (inserted > 0) this.#listeners.onStored(parts);
    const events = parts.reduce((sum, part) => sum + part.eventCount, 0);
    countEvents(events, result);
    const ms = Math.round(performance.now() - startedMs);
    this.#log[quarantined > 0 ? 'error' : 'debug'](
      { segments: parts.map(({ segmentId }) => segmentId), events, inserted, quarantined, ms },
      'stored',
    );
    return inserted === events;
  }
}
