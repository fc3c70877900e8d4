import { currentScope, enterScope, type Scope } from '../event/context.ts';
import { createUuid } from '../event/uuid.ts';

/**
 * Most operations whose trace is kept: without a limit, operations whose end is never reported would leak.
 */
const tracesMax = 10_000;

/** One trace for each operation of the AI SDK, unless the application opened one around it. */
export class Traces {
  readonly #traceIds = new Map<string, string>();

  scopeOf(callId: string): Scope {
    const scope = currentScope();
    if (scope.traceId !== undefined) return scope;
    let traceId = this.#traceIds.get(callId);
    if (traceId === undefined) {
      traceId = createUuid();
      this.#traceIds.set(callId, traceId);
      const [oldest] = this.#traceIds.keys();
      if (this.#traceIds.size > tracesMax && oldest !== undefined) this.#traceIds.delete(oldest);
    }
    return { ...scope, traceId };
  }

  run<R>(callId: string, changes: Scope, fn: () => R): R {
    return enterScope({ ...this.scopeOf(callId), ...changes }, fn);
  }

  close(callId: string): void {
    this.#traceIds.delete(callId);
  }
}
