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

/** Whether this is Cloudflare's runtime, where a request must not wait for promises or timers of another request. */
export function isCloudflare(): boolean {
  const { navigator } = globalThis as { navigator?: { userAgent?: string } };
  return navigator?.userAgent === 'Cloudflare-Workers';
}
