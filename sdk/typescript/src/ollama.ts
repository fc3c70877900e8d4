import type { Recorder } from './core/recorder.ts';
import { isObserved, markObserved } from './http/marker.ts';
import { warnUnknown } from './http/observe-client.ts';
import { type Fetch, type ObserveOptions, Observer } from './http/observed-fetch.ts';
import { chat, generate } from './ollama/answers.ts';

export type { ObserveOptions };

const adapters = [chat, generate];

/**
 * A fetch that records the calls of Ollama's API, for `new Ollama({ fetch })`.
 *
 * @param base the fetch that sends the requests. Default: the global one.
 */
export function ollamaFetch(recorder: Recorder, options: ObserveOptions = {}, base?: Fetch): Fetch {
  return new Observer({ ...options, recorder, adapters }).wrap(base);
}

/** Records the calls of an `ollama` client. Changes the client in place and returns it. */
export function observeOllama<T extends object>(
  recorder: Recorder,
  client: T,
  options: ObserveOptions = {},
): T {
  const parts = client as { fetch?: Fetch };
  if (isObserved(client)) return client;
  if (parts.fetch === undefined) {
    warnUnknown(client);
    return client;
  }
  parts.fetch = ollamaFetch(recorder, options, parts.fetch);
  return markObserved(client);
}
