import { currentScope, enterScope, type Scope } from '../event/context.ts';
import { createUuid } from '../event/uuid.ts';

/** Most runs in progress: without a limit, runs whose end is never reported would leak. */
const runsMax = 10_000;

/** A run that a framework reported: a chain, an agent, a tool or a model call. */
export interface Run<T> {
  readonly startTimeMs: number;
  /** The scope around the run, in which the run's own event is recorded. */
  readonly outer: Scope;
  /** The scope of what the run runs. */
  readonly inner: Scope;
  readonly data: T;
}

interface ScopeChanges {
  /** Returns the scope of what the run runs, by the scope around the run. */
  enter(outer: Scope): Scope;
  /** Adds what the framework says about the run to the scope around it. */
  describe?(scope: Scope): Scope;
}

/**
 * The runs of a framework in progress. A framework reports them by ids, and may run its reports outside of
 * the async context that they belong to: the parent's id gives the scope.
 */
export class Runs<T> {
  readonly #runs = new Map<string, Run<T>>();
  readonly #onLost: (run: Run<T>) => void;

  /** @param onLost called with the oldest run when there are too many, and with each one at the end. */
  constructor(onLost: (run: Run<T>) => void) {
    this.#onLost = onLost;
  }

  get(id: string | undefined): Run<T> | undefined {
    return id === undefined ? undefined : this.#runs.get(id);
  }

  /**
   * Begins a run: inside of its parent, or of the running code's scope, or of a new trace. A second report of
   * a run is ignored.
   *
   * @param traceId for a run without a trace around it. Default: a new one.
   */
  open(
    { id, parentId, traceId }: { id: string; parentId: string | undefined; traceId?: string | undefined },
    data: T,
    { enter, describe = (scope) => scope }: ScopeChanges,
  ): void {
    if (this.#runs.has(id)) return;
    const scope = this.#runs.get(parentId ?? '')?.inner ?? currentScope();
    const outer = describe({ ...scope, traceId: scope.traceId ?? traceId ?? createUuid() });
    this.#runs.set(id, { startTimeMs: Date.now(), outer, inner: { ...enter(outer), runId: id }, data });
    const [oldest] = this.#runs.keys();
    if (this.#runs.size > runsMax && oldest !== undefined) this.close(oldest, this.#onLost);
  }

  /** Ends a run, if it was begun: calls the function in the scope around the run. */
  close(id: string, end: (run: Run<T>) => void = () => {}): void {
    const run = this.#runs.get(id);
    if (run === undefined) return;
    this.#runs.delete(id);
    enterScope(run.outer, () => end(run));
  }

  /** Ends all runs, as lost. */
  closeAll(): void {
    for (const id of [...this.#runs.keys()]) this.close(id, this.#onLost);
  }
}
