import { chatCompletions } from './adapters/chat.ts';
import type { Recorder } from './core/recorder.ts';
import { isObserved, markObserved } from './http/marker.ts';
import { warnUnknown } from './http/observe-client.ts';
import { type ObserveOptions, Observer } from './http/observed-fetch.ts';
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

/** The options from which a client makes `client.chat`, `client.fim` and others when they are first used. */
interface MistralParts {
  _options?: { httpClient?: MistralHttpClient };
}

/**
 * Records the calls of a client of `@mistralai/mistralai` 1 and 2: `chat`, `agents` and `fim`. Changes the
 * client in place and returns it. Observe it before its first use: an API that the application has taken from
 * it already is not observed.
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

/** The `HTTPClient` of `@mistralai/mistralai`, of which `request` and `clone` are used. */
interface MistralHttpClient {
  request(request: Request): Promise<Response>;
  clone?(): MistralHttpClient;
}

/** Without an HTTP client of the application, Mistral's client uses the global fetch. */
const defaultClient: MistralHttpClient = { request: (request) => fetch(request) };

/**
 * An HTTP client that records the calls that another one sends.
 *
 * @param path the paths of the recorded requests. Of others, such as uploads, no body is copied.
 */
function observeHttpClient(
  observer: Observer,
  path: RegExp,
  client: MistralHttpClient = defaultClient,
): MistralHttpClient {
  return Object.create(client, {
    request: {
      async value(request: Request) {
        const { url, method, headers, signal } = request;
        const body = path.test(new URL(url).pathname) ? await readBody(request) : undefined;
        const init: RequestInit = { method, headers, signal, ...(body !== undefined && { body }) };
        return observer.send({ input: url, init }, () => client.request(request));
      },
    },
    clone: { value: () => observeHttpClient(observer, path, client.clone?.() ?? client) },
  });
}

async function readBody(request: Request): Promise<string | undefined> {
  try {
    return await request.clone().text();
  } catch {
    return undefined;
  }
}
