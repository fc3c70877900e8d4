import {
  type CallContext,
  currentScope,
  enterScope,
  runInScope,
  type Scope,
  type SpanLevel,
} from '../event/context.ts';
import { createUuid } from '../event/uuid.ts';
import { spanDepthMax, spanNameCharsMax } from '../limits.ts';

/** A named part of a trace. The events recorded inside it name it; it is no event itself. */
export interface Span extends SpanLevel {
  readonly traceId: string;
  /**
   * Runs a function inside this span. Needed only after an `await` on platforms without AsyncLocalStorage,
   * such as browsers.
   */
  run<R>(fn: () => R): R;
}

/**
 * Runs a function as a span: in the current trace, or in a new one. The function's result or error is passed
 * on unchanged.
 */
export function runSpan<R>(name: string, fn: (span: Span) => R, context: CallContext): R {
  const traceId = context.traceId ?? currentScope().traceId ?? createUuid();
  return runInScope({ ...context, traceId }, () => {
    const level = createLevel(name);
    const scope = addLevel(currentScope(), level);
    const run = <T>(inner: () => T) => enterScope(scope, () => bindGenerator(inner()));
    return run(() => fn({ ...level, traceId, run }));
  });
}

/** The name may not contain the separator of `span.path`. */
export function createLevel(name: string): SpanLevel {
  return {
    id: createUuid().slice(-12),
    name: String(name).replaceAll(' > ', '>').slice(0, spanNameCharsMax),
  };
}

/**
 * The scope inside a span. Deeper events belong to the deepest span that is kept: each level makes each event
 * longer.
 */
export function addLevel(outer: Scope, level: SpanLevel): Scope {
  return { ...outer, spans: [...(outer.spans ?? []), level].slice(0, spanDepthMax) };
}

/**
 * Makes the body of a generator run in the current scope: it runs when the generator is iterated, which is
 * later.
 */
export function bindGenerator<T>(result: T): T {
  if (!/Generator\]$/.test(Object.prototype.toString.call(result))) return result;
  const generator = result as Record<string, (...args: unknown[]) => unknown>;
  const scope = currentScope();
  for (const name of ['next', 'return', 'throw']) {
    const method = generator[name];
    generator[name] = (...args) => enterScope(scope, () => method?.apply(generator, args));
  }
  return result;
}
