import { generateContent } from './adapters/generate-content.ts';
import type { Recorder } from './core/recorder.ts';
import { isObserved, markObserved } from './http/marker.ts';
import { warnUnknown } from './http/observe-client.ts';
import { type Fetch, type ObserveOptions, Observer } from './http/observed-fetch.ts';

export type { ObserveOptions };

const adapters = [generateContent];

/** The part of `@google/genai` 1 – 3 that sends requests. Its types declare it protected. */
interface GoogleParts {
  apiClient?: {
    apiCall?: (url: string, init: RequestInit, ...others: unknown[]) => Promise<Response>;
  };
}

/**
 * A fetch that records the calls of Gemini's API, for `new GoogleGenAI({ httpOptions: { fetch } })` from
 * version 3 on. With a fetch of its own that client keeps the time-out of Node's, 5 minutes, which it
 * otherwise turns off: prefer `observeGoogle`.
 *
 * @param base the fetch that sends the requests. Default: the global one.
 */
export function googleFetch(recorder: Recorder, options: ObserveOptions = {}, base?: Fetch): Fetch {
  return new Observer({ ...options, recorder, adapters }).wrap(base);
}

/**
 * Records the calls of a `GoogleGenAI` client: `models` and `chats`, with each call that automatic function
 * calling makes. The attempts of the client's own retries are one event. Changes the client in place and
 * returns it.
 */
export function observeGoogle<T extends object>(
  recorder: Recorder,
  client: T,
  options: ObserveOptions = {},
): T {
  const { apiClient } = client as GoogleParts;
  const apiCall = apiClient?.apiCall;
  if (isObserved(client)) return client;
  if (apiClient === undefined || typeof apiCall !== 'function') {
    warnUnknown(client);
    return client;
  }
  const observer = new Observer({ ...options, recorder, adapters });
  apiClient.apiCall = function (this: unknown, url, init, ...others) {
    const signal = others.find((value) => value instanceof AbortSignal);
    // In older versions the method is an argument of its own.
    const method = init.method ?? others.find((value) => typeof value === 'string');
    const request: RequestInit = { ...init, ...(method && { method }), ...(signal && { signal }) };
    return observer.send({ input: url, init: request }, () => apiCall.call(this, url, init, ...others));
  };
  return markObserved(client);
}
