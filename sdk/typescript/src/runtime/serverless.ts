import { flushTimeoutMs } from '../limits.ts';

/** Keeps an invocation alive until a promise is settled. */
export type WaitUntil = (promise: Promise<unknown>) => void;

interface VercelContext {
  get?(): { waitUntil?: WaitUntil } | undefined;
}

const vercelKey = Symbol.for('@vercel/request-context');

/** Vercel's `waitUntil` for the current request; undefined elsewhere. */
export function findWaitUntil(): WaitUntil | undefined {
  const holder = globalThis as Record<symbol, VercelContext | undefined>;
  const request = holder[vercelKey]?.get?.();
  return request?.waitUntil?.bind(request);
}

/**
 * Whether this is Cloudflare's runtime, where a request must not wait for promises or timers of another
 * request.
 */
export function isCloudflare(): boolean {
  const { navigator } = globalThis as { navigator?: { userAgent?: string } };
  return navigator?.userAgent === 'Cloudflare-Workers';
}

/** The event, and the context that tells how long the invocation may last. */
export type LambdaArguments = [unknown, { getRemainingTimeInMillis?(): number }?, ...unknown[]];

/** Left of the time of an invocation, for its own end. */
const lambdaReserveMs = 500;

/** A handler of AWS Lambda that flushes when it has ended: then the sandbox is frozen. */
export function wrapLambda<A extends LambdaArguments, R>(
  handler: (...args: A) => R | Promise<R>,
  flush: (timeoutMs: number) => Promise<unknown>,
): (...args: A) => Promise<R> {
  return async (...args) => {
    try {
      return await handler(...args);
    } finally {
      const leftMs = args[1]?.getRemainingTimeInMillis?.() ?? flushTimeoutMs;
      await flush(Math.max(0, Math.min(flushTimeoutMs, leftMs - lambdaReserveMs)));
    }
  };
}
