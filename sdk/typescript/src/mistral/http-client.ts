import type { Observer } from '../http/observed-fetch.ts';

/** The `HTTPClient` of `@mistralai/mistralai`, of which `request` and `clone` are used. */
export interface MistralHttpClient {
  request(request: Request): Promise<Response>;
  clone?(): MistralHttpClient;
}

/** What the client uses when the application gives it no HTTP client. */
const defaultClient: MistralHttpClient = { request: (request) => fetch(request) };

/**
 * An HTTP client that records the calls that another one sends.
 *
 * @param path the paths of the recorded requests. Of others, such as uploads, no body is copied.
 */
export function observeHttpClient(
  observer: Observer,
  path: RegExp,
  client: MistralHttpClient = defaultClient,
): MistralHttpClient {
  return Object.create(client, {
    request: { value: (request: Request) => send(observer, path, client, request) },
    clone: { value: () => observeHttpClient(observer, path, client.clone?.() ?? client) },
  });
}

async function send(
  observer: Observer,
  path: RegExp,
  client: MistralHttpClient,
  request: Request,
): Promise<Response> {
  const { url, method, headers, signal } = request;
  const body = path.test(new URL(url).pathname) ? await readBody(request) : undefined;
  const init: RequestInit = { method, headers, signal, ...(body !== undefined && { body }) };
  return observer.send(url, init, undefined, () => client.request(request));
}

async function readBody(request: Request): Promise<string | undefined> {
  try {
    return await request.clone().text();
  } catch {
    return undefined;
  }
}
