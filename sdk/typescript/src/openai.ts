import { chatCompletions } from './adapters/chat.ts';
import { responses } from './adapters/responses.ts';
import type { Recorder } from './core/recorder.ts';
import { observeClient } from './http/observe-client.ts';
import { type Fetch, type ObserveOptions, Observer } from './http/observed-fetch.ts';

export type { ObserveOptions };

const adapters = [chatCompletions, responses];

/**
 * A fetch that records the calls of OpenAI's APIs, for `new OpenAI({ fetch })` and for every client that
 * takes a fetch.
 *
 * @param base the fetch that sends the requests. Default: the global one.
 */
export function openaiFetch(recorder: Recorder, options: ObserveOptions = {}, base?: Fetch): Fetch {
  return new Observer({ ...options, recorder, adapters }).wrap(base);
}

/** Records the calls of an `openai` client. Changes the client in place and returns it. */
export function observeOpenAI<T extends object>(
  recorder: Recorder,
  client: T,
  options: ObserveOptions = {},
): T {
  return observeClient(new Observer({ ...options, recorder, adapters }), client);
}
