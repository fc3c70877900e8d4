import { findBuiltin } from '../runtime/platform.ts';
import type { WaitUntil } from '../runtime/serverless.ts';
import { dropUndefined } from './drop-undefined.ts';
import type { EventContext } from './event.ts';

/** Fields of every event that is recorded while a function runs, across `await`. */
export interface CallContext extends EventContext {
  /** A UUIDv4. Any other text is stored as the dimension `traceId`. */
  traceId?: string;
  /** Custom dimensions (docs/api.md §2.2). */
  additionalProperties?: Record<string, string | number>;
  /** Added to the tags around; stored joined by `, ` as the dimension `tags`. */
  tags?: readonly string[];
  /** The version of the program; stored as the dimension `release`. */
  release?: string;
  /** Such as `production`; stored as the dimension `environment`. */
  environment?: string;
  /** Keeps the invocation of a serverless platform alive, as Cloudflare's `ctx.waitUntil` does. */
  waitUntil?: WaitUntil;
}

/** The context with internal fields of the SDK. */
export interface Scope extends CallContext {
  /** Set while another part of the SDK records the same call: the HTTP layer then records nothing. */
  isSilent?: boolean;
  /** The spans around the running code, the outermost first. */
  spans?: readonly SpanLevel[] | undefined;
  /** The event of the tool call that the running code belongs to. */
  parentEventId?: string | undefined;
  /** The id of the run of a framework that this scope was made for: code inside it has entered it already. */
  runId?: string;
  /** The call of a provider's SDK that an HTTP attempt belongs to. */
  call?: ClientCall;
}

/** What a provider's SDK tells about a call of it. */
export interface ClientCall {
  /** How often that SDK retries, if known. */
  retriesMax?: number | undefined;
  /**
   * The signal by which the application aborts the call. Without an abort of it, the SDK has aborted because
   * of its time-out.
   */
  signal?: AbortSignal | null | undefined;
}

/** A span as the events inside it name it. */
export interface SpanLevel {
  /** 12 random hexadecimal digits. */
  readonly id: string;
  readonly name: string;
}

interface Storage {
  getStore(): Scope | undefined;
  run<R>(scope: Scope, fn: () => R): R;
}

// Shared by all copies of the package in a process: an ESM copy and a bundled one have the same context.
const key = Symbol.for('weir.context.1');

export function currentScope(): Scope {
  return findStorage().getStore() ?? {};
}

/**
 * Runs a function in the current scope with some fields replaced. `undefined` leaves a field unchanged. In
 * another trace the spans and the parent of the outer one do not apply.
 */
export function runInScope<R>(changes: Scope, fn: () => R): R {
  const outer = currentScope();
  const inner: Scope = { ...outer, ...dropUndefined(changes) };
  if (inner.traceId !== outer.traceId) {
    inner.spans = changes.spans;
    inner.parentEventId = changes.parentEventId;
  }
  if (changes.additionalProperties) {
    inner.additionalProperties = { ...outer.additionalProperties, ...changes.additionalProperties };
  }
  if (changes.tags) inner.tags = [...(outer.tags ?? []), ...changes.tags];
  return findStorage().run(inner, fn);
}

/** Runs a function in this scope alone, without what is around. */
export function enterScope<R>(scope: Scope, fn: () => R): R {
  return findStorage().run(scope, fn);
}

/**
 * Adds the scopes of a framework that keeps the running code's position itself.
 *
 * @param scopeOf returns the scope to use instead of the one that the SDK knows.
 */
export function extendScopes(scopeOf: (known: Scope | undefined) => Scope | undefined): void {
  const storage = findStorage();
  holder[key] = {
    getStore: () => scopeOf(storage.getStore()),
    run: (scope, fn) => storage.run(scope, fn),
  };
}

const holder = globalThis as { [key]?: Storage };

function findStorage(): Storage {
  holder[key] ??= createStorage();
  return holder[key];
}

function createStorage(): Storage {
  const hooks = findBuiltin<{ AsyncLocalStorage: new () => Storage }>('node:async_hooks');
  // In edge runtimes it is a global.
  const global = globalThis as { AsyncLocalStorage?: new () => Storage };
  const AsyncLocalStorage = hooks?.AsyncLocalStorage ?? global.AsyncLocalStorage;
  return AsyncLocalStorage ? new AsyncLocalStorage() : new SyncStorage();
}

/** Browsers have no AsyncLocalStorage: there a scope ends at the first `await`. */
class SyncStorage implements Storage {
  #current: Scope | undefined;

  getStore(): Scope | undefined {
    return this.#current;
  }

  run<R>(scope: Scope, fn: () => R): R {
    const outer = this.#current;
    this.#current = scope;
    try {
      return fn();
    } finally {
      this.#current = outer;
    }
  }
}
