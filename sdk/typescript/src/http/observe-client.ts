import { runInScope } from '../event/context.ts';
import { isObserved, markObserved } from './marker.ts';
import { createMiddleware } from './middleware.ts';
import type { Fetch, Observer } from './observed-fetch.ts';

/** What the clients of OpenAI and Anthropic have in common. Private to their types in some versions. */
interface ClientParts {
  fetch?: Fetch;
  middleware?: unknown[];
  /** Adapts requests to another backend, such as Bedrock: below it, requests are no longer Anthropic's. */
  backendMiddleware?: () => unknown[];
  maxRetries?: number;
  request?: (options: unknown, retriesLeft?: number | null) => unknown;
}

/**
 * Observes the requests of a client, in place. Methods, promises, streams and types stay the client's own: only the
 * fetch below them is replaced.
 */
export function observeClient<T extends object>(observer: Observer, client: T): T {
  const parts = client as ClientParts;
  if (isObserved(client)) return client;
  if (typeof parts.fetch !== 'function') {
    warnUnknown(client);
    return client;
  }
  const hasBackend = (parts.backendMiddleware?.().length ?? 0) > 0;
  if (hasBackend && Array.isArray(parts.middleware)) parts.middleware.unshift(createMiddleware(observer));
  else parts.fetch = observer.wrap(parts.fetch);
  markAttempts(parts);
  return markObserved(client);
}

const warned = new Set<string>();

/** Once for each class: a client that is not recorded looks like one that makes no calls. */
function warnUnknown(client: object): void {
  const name = client.constructor?.name || 'object';
  if (warned.has(name)) return;
  warned.add(name);
  console.warn(
    `weir: observe() does not know a client of class ${name}: nothing of it is recorded. If it takes a fetch, give it weir.fetch().`,
  );
}

/** Gives the attempts of one call a scope in common. The promise of the client is returned as it is. */
function markAttempts(client: ClientParts): void {
  const { request } = client;
  if (typeof request !== 'function') return;
  client.request = function (this: ClientParts, options, retriesLeft) {
    const call: { retriesMax?: number | undefined } = {};
    const read = (known: unknown) => {
      const { maxRetries } = (known ?? {}) as { maxRetries?: number };
      call.retriesMax = retriesLeft ?? maxRetries ?? this.maxRetries;
    };
    // The client waits for this promise too, after us. If it is rejected, that is the client's to tell.
    if (options instanceof Promise) options.then(read, () => {});
    else read(options);
    return runInScope({ call }, () => request.call(this, options, retriesLeft));
  };
}
