import type { Adapter } from '../wire/adapter.ts';

/** What `fetch` takes first. */
export type FetchInput = string | URL | Request;

/** What is known of a request before it is sent. */
export interface ObservedRequest {
  url: URL;
  headers: Headers;
  body: string | undefined;
  signal: AbortSignal | undefined;
}

/** @returns the request, if one of the adapters reads its API. */
export function matchRequest(
  adapters: readonly Adapter[],
  input: FetchInput,
  init: RequestInit | undefined,
): { adapter: Adapter; request: ObservedRequest } | undefined {
  const given = typeof input === 'object' && 'url' in input ? input : undefined;
  if ((init?.method ?? given?.method ?? 'GET').toUpperCase() !== 'POST') return undefined;
  const url = new URL(given?.url ?? String(input));
  const adapter = adapters.find(({ path }) => path.test(url.pathname));
  if (adapter === undefined) return undefined;
  const headers = init?.headers ?? given?.headers;
  const request: ObservedRequest = {
    url,
    headers: headers instanceof Headers ? headers : new Headers(headers),
    body: textOf(init?.body),
    signal: init?.signal ?? given?.signal ?? undefined,
  };
  return { adapter, request };
}

/** A body that is a stream can be read once, by its receiver: it is not recorded. */
function textOf(body: unknown): string | undefined {
  if (typeof body === 'string') return body;
  const isBytes = body instanceof Uint8Array || body instanceof ArrayBuffer;
  return isBytes ? new TextDecoder().decode(body) : undefined;
}

/** Which attempt this is, from 0, as the SDKs of OpenAI and Anthropic tell; undefined for other clients. */
export function attemptOf({ headers }: ObservedRequest): number | undefined {
  const text = headers.get('x-stainless-retry-count');
  return text === null ? undefined : Number(text) || 0;
}
