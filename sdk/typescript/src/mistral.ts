import type { Recorder } from './core/recorder.ts';
import { isObserved, markObserved } from './http/marker.ts';
import { warnUnknown } from './http/observe-client.ts';
import { type ObserveOptions, Observer } from './http/observed-fetch.ts';
import { type MistralHttpClient, observeHttpClient } from './mistral/http-client.ts';
import { chatCompletions } from './openai/chat.ts';
import type { Adapter } from './wire/adapter.ts';

export type { ObserveOptions };

/** Mistral's APIs for chats, agents and code completion have the format of OpenAI's chat completions. */
const completions: Adapter = {
  ...chatCompletions,
  source: 'mistral',
  sourcePackage: '@mistralai/mistralai',
  sourceFunction: 'chat.complete',
  path: /\/(chat|agents|fim)\/completions$/,
  hasUsageOption: false,
};

/** The part of the client that its APIs are made from, when they are first used: `client.chat`, `client.fim` and others. */
interface MistralParts {
  _options?: { httpClient?: MistralHttpClient };
}

/**
 * Records the calls of a client of `@mistralai/mistralai` 1 and 2: `chat`, `agents` and `fim`. Changes the client in place and
 * returns it. Observe it before its first use: an API that the application has taken from it already is not observed.
 */
export function observeMistral<T extends object>(
  recorder: Recorder,
  client: T,
  options: ObserveOptions = {},
): T {
  const { _options: own } = client as MistralParts;
  if (isObserved(client)) return client;
  if (own === undefined) {
    warnUnknown(client);
    return client;
  }
  const observer = new Observer({ ...options, recorder, adapters: [completions] });
  own.httpClient = observeHttpClient(observer, completions.path, own.httpClient);
  for (const [name, api] of Object.entries(client)) {
    // Made again with the observed HTTP client when it is used next.
    if (name.startsWith('_') && '_options' in Object(api)) Reflect.set(client, name, undefined);
  }
  return markObserved(client);
}
