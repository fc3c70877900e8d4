import type { Adapter } from '../wire/adapter.ts';

export type FetchInput = string | URL | Request;

/** `/v1/embeddings`, Ollama's `/api/embed`, Google's `:embedContent` and `:batchEmbedContents`. */
const embeddings = /embed(dings|Contents?)?$/i;

/** A request before it is sent. */
export interface ObservedRequest {
  url: URL;
  headers: Headers;
  body: string | undefined;
  signal: AbortSignal | undefined;
}

/**
 * Finds the adapter of a request.
 *
 * @param seen counts requests for embeddings: Weir has no type of event for them.
 * @returns the request, if one of the adapters supports its API.
 */
export function matchRequest(
  { adapters, recorder: seen }: { adapters: readonly Adapter[]; recorder: { embeddings: number } },
  input: FetchInput,
  init: RequestInit | undefined,
): { adapter: Adapter; request: ObservedRequest } | undefined {
  const given = typeof input === 'object' && 'url' in input ? input : undefined;
  if ((init?.method ?? given?.method ?? 'GET').toUpperCase() !== 'POST') return undefined;
  const url = new URL(given?.url ?? String(input));
  const adapter = adapters.find(({ path }) => path.test(url.pathname));
  if (adapter === undefined) {
    if (embeddings.test(url.pathname)) seen.embeddings++;
    return undefined;
  }
  const headers = init?.headers ?? given?.headers;
  const request: ObservedRequest = {
    url,
    headers: headers instanceof Headers ? headers : new Headers(headers),
    body: textOf(init?.body),
    signal: init?.signal ?? given?.signal ?? undefined,
  };
  return { adapter, request };
}

/** The text of a body. A stream is not recorded: it can be read only once, by the provider. */
function textOf(body: unknown): string | undefined {
  if (typeof body === 'string') return body;
  const isBytes = body instanceof Uint8Array || body instanceof ArrayBuffer;
  return isBytes ? new TextDecoder().decode(body) : undefined;
}

/**
 * The number of the attempt, from 0, which the SDKs of OpenAI and Anthropic send; undefined for other
 * clients.
 */
export function attemptOf({ headers }: ObservedRequest): number | undefined {
  const text = headers.get('x-stainless-retry-count');
  return text === null ? undefined : Number(text) || 0;
}
