import { type Dispatcher, Pool } from 'undici';

/** Ingest's errors are below 1 KB; anything longer comes from something else. */
const responseBytesMax = 64 * 1024;

export interface IngestResponse {
  status: number;
  body: string;
  /** The unparsed header. */
  retryAfter: string | undefined;
  /** A header of the response by its lower-case name; undefined when it is absent or repeated. */
  header(name: string): string | undefined;
}

/** @throws Error without a complete response: the batch may have been accepted or not. */
export type Post = (body: Uint8Array) => Promise<IngestResponse>;

export interface IngestClientOptions {
  /** The base URL of ingest; the path is appended unless it is there. */
  url: string;
  path?: IngestPath;
  apiKey: string;
  /** Most connections, and so most concurrent requests. Connections are kept alive. */
  connections: number;
  /** Limits the time to connect, to the response headers, and between two parts of the response body. */
  timeoutMs: number;
}

/** Events in the shape of docs/api.md §2, or spans in OTLP/JSON. */
export type IngestPath = '/v1/ingest-events' | '/v1/traces';

/**
 * Opens a pool of connections to ingest, without retries. undici's dispatch takes 31 µs of CPU for a small
 * request (node:http: 64, fetch: 265): a load generator shares its machine with the service that it measures.
 */
export function openIngestClient(options: IngestClientOptions): { post: Post } & AsyncDisposable {
  const url = new URL(options.url);
  const { path = '/v1/ingest-events' } = options;
  const base = url.pathname.replace(/\/+$/, '');
  const request = {
    method: 'POST',
    path: base.endsWith(path) ? base : base + path,
    headers: { authorization: `Bearer ${options.apiKey}`, 'content-type': 'application/json' },
  } as const;
  const pool = new Pool(url.origin, {
    connections: options.connections,
    pipelining: 1,
    connectTimeout: options.timeoutMs,
    headersTimeout: options.timeoutMs,
    bodyTimeout: options.timeoutMs,
  });
  return {
    post: (body) => postOnce(pool, { ...request, body }),
    [Symbol.asyncDispose]: () => pool.destroy(),
  };
}

function postOnce(pool: Pool, request: Dispatcher.DispatchOptions): Promise<IngestResponse> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let status = 0;
    let header: IngestResponse['header'] = () => undefined;
    pool.dispatch(request, {
      // undici recognises the current handler interface by this method.
      onRequestStart: () => {},
      onResponseStart: (_controller, statusCode, headers) => {
        status = statusCode;
        header = (name) => {
          const value = headers[name];
          return typeof value === 'string' ? value : undefined;
        };
      },
      onResponseData: (controller, chunk) => {
        size += chunk.length;
        if (size > responseBytesMax) controller.abort(new Error('the response is too long'));
        else chunks.push(chunk);
      },
      onResponseEnd: () =>
        resolve({
          status,
          body: Buffer.concat(chunks).toString(),
          retryAfter: header('retry-after'),
          header,
        }),
      onResponseError: (_controller, error) => reject(error),
    });
  });
}
