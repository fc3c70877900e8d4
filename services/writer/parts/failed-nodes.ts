import postgres from 'postgres';
import type { Logger } from '../../../platform/log.ts';
import type { Database } from '../../../store/db/database.ts';
import { Placements } from '../../../store/db/layout/placements.ts';
import { permanentErrorOf } from '../../../store/write/permanent-error.ts';
import { lockedDelayMsMax, nodeRetryMs } from '../limits.ts';
import { isLockTimeout } from './locked-spaces.ts';

/** Deadlocks and serialization failures: conflicts with another statement. */
const conflictClass = '40';

/**
 * Whether a node of a Citus cluster may be the cause: neither permanent nor a conflict. When a node hangs,
 * the coordinator does not answer, and the driver closes the connection.
 */
export function isNodeFailure(error: unknown): boolean {
  const isConflict = error instanceof postgres.PostgresError && error.code.startsWith(conflictClass);
  return permanentErrorOf(error) === undefined && !isLockTimeout(error) && !isConflict;
}

/** A node that failed, and the spaces with waiting events whose rows it has. */
export interface FailedNode {
  readonly node: string;
  readonly spaceIds: ReadonlySet<string>;
}

interface Failure extends FailedNode {
  readonly spaceIds: Set<string>;
  untilMs: number;
  tries: number;
  /** One statement at a time tries the node again: it may hang until its time-out. */
  isTried: boolean;
}

/** Failed nodes of a Citus cluster, whose spaces statements leave out. One statement tries each again. */
export class FailedNodes {
  readonly #log: Logger;
  readonly #failures = new Map<string, Failure>();
  readonly #placements: Placements;

  constructor(database: Database, log: Logger) {
    this.#placements = new Placements(database);
    this.#log = log;
  }

  /** What waits now, by node. */
  list(): readonly FailedNode[] {
    return [...this.#failures.values()];
  }

  /**
   * Groups spaces by node, for a transaction each: a node that hangs keeps a transaction's locks on other
   * nodes. One group without Citus.
   * @returns also the spaces that wait, because their node failed and is not tried yet.
   */
  async divide(
    spaceIds: ReadonlySet<string>,
  ): Promise<{ groups: ReadonlySet<string>[]; waiting: Set<string> }> {
    const byNode = await this.groupByNode(spaceIds);
    const groups: ReadonlySet<string>[] = [];
    const waiting = new Set<string>();
    for (const [node, own] of byNode ?? [['', spaceIds] as const]) {
      if (this.#mustWait(node, own)) for (const spaceId of own) waiting.add(spaceId);
      else groups.push(own);
    }
    return { groups, waiting };
  }

  /** @returns undefined without Citus, or when the coordinator does not answer. */
  async groupByNode(spaceIds: ReadonlySet<string>): Promise<Map<string, Set<string>> | undefined> {
    // Without an answer, the error of the statement is the one to report.
    return this.#placements.group(spaceIds).catch(() => undefined);
  }

  /** A statement for spaces of one node failed. */
  note(node: string, spaceIds: Iterable<string>, error: unknown): void {
    const known = this.#failures.get(node);
    if (known === undefined)
      this.#log.error(
        { node, err: error },
        'ALARM: a database node failed; events of its spaces wait in the queue',
      );
    const failure = known ?? { node, spaceIds: new Set<string>(), untilMs: 0, tries: 0, isTried: false };
    for (const spaceId of spaceIds) failure.spaceIds.add(spaceId);
    failure.untilMs = performance.now() + Math.min(nodeRetryMs * 2 ** failure.tries, lockedDelayMsMax);
    failure.tries += 1;
    this.#failures.set(node, failure);
  }

  endTries(groups: readonly ReadonlySet<string>[]): void {
    for (const failure of this.#failures.values())
      if (groups.some((group) => !group.isDisjointFrom(failure.spaceIds))) failure.isTried = false;
  }

  /** Notes that events of these spaces were stored: their nodes work. */
  forget(spaceIds: ReadonlySet<string>): void {
    for (const [node, failure] of this.#failures) {
      if (failure.spaceIds.isDisjointFrom(spaceIds)) continue;
      this.#failures.delete(node);
      this.#log.info({ node }, 'a database node works again');
    }
  }

  #mustWait(node: string, spaceIds: ReadonlySet<string>): boolean {
    const failure = this.#failures.get(node);
    if (failure === undefined) return false;
    for (const spaceId of spaceIds) failure.spaceIds.add(spaceId);
    if (failure.isTried || failure.untilMs > performance.now()) return true;
    failure.isTried = true;
    return false;
  }
}
