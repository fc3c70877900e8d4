import { type ClientCall, runInScope } from '../event/context.ts';
import { isObserved, markObserved } from './marker.ts';
import { createMiddleware } from './middleware.ts';
import type { Fetch, Observer } from './observed-fetch.ts';

/**
 * The members that the clients of OpenAI and Anthropic share. In some versions their types declare them
 * private.
 */
interface ClientParts {
  fetch?: Fetch;
  baseURL?: string;
  middleware?: unknown[];
  /**
   * Converts requests for another backend, such as Bedrock: the fetch below gets no requests of Anthropic's
   * API.
   */
  backendMiddleware?: () => unknown[];
  maxRetries?: number;
  request?: (options: unknown, retriesLeft?: number | null) => unknown;
}

/**
 * Observes the requests of a client, in place. Only the client's fetch is replaced; its methods, promises,
 * streams and types stay the same.
 */
export function observeClient<T extends object>(observer: Observer, client: T): T {
  const parts = client as ClientParts;
  if (isObserved(client)) return client;
  // Clients of other APIs may have a fetch, too: Ollama's.
  if (!(parts.fetch && parts.baseURL)) {
    warnUnknown(client);
    return client;
  }
  const hasBackend = (parts.backendMiddleware?.().length ?? 0) > 0;
  if (hasBackend && Array.isArray(parts.middleware)) parts.middleware.unshift(createMiddleware(observer));
  else parts.fetch = observer.wrap(parts.fetch);
  markAttempts(parts);
  return markObserved(client);
}

/** The options of one call that matter here. */
interface CallOptions {
  maxRetries?: number;
  signal?: AbortSignal | null;
  fetchOptions?: { signal?: AbortSignal | null };
}

const warned = new Set<string>();

/** Warns once for each class: an unknown client is not recorded, which would go unnoticed. */
export function warnUnknown(client: object): void {
  const name = client.constructor?.name || 'object';
  if (warned.has(name)) return;
  warned.add(name);
  console.warn(`weir: observe() does not know ${name}: its calls are not recorded (docs/sdk.md).`);
}

/** Runs the attempts of one call in the same scope. The client's promise is returned unchanged. */
function markAttempts(client: ClientParts): void {
  const { request } = client;
  if (typeof request !== 'function') return;
  client.request = function (this: ClientParts, options, retriesLeft) {
    const call: ClientCall = {};
    const read = (known: unknown) => {
      const { maxRetries, signal, fetchOptions } = (known ?? {}) as CallOptions;
      call.retriesMax = retriesLeft ?? maxRetries ?? this.maxRetries;
      call.signal = signal ?? fetchOptions?.signal;
    };
    // The client awaits this promise as well, and reports its rejection.
    if (options instanceof Promise) options.then(read, () => {});
    else read(options);
    return runInScope({ call }, () => request.call(this, options, retriesLeft));
  };
}
