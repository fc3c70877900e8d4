import { type Dispatcher, Pool } from 'undici';
import { answerBytesMax } from '../limits.ts';

/** What a server answered to one request. */
export interface Answer {
  status: number;
  body: string;
  /** The Retry-After header, as it came. */
  retryAfter: string | undefined;
}

/** Sends one request body. @throws Error when no whole answer came: the server may or may not have taken the body. */
export type Post = (body: Uint8Array) => Promise<Answer>;

export interface PostOptions {
  /** The base address of ingest; the path of the contract (§4) is added to it. */
  url: string;
  apiKey: string;
  /** Most connections, and so most requests at once. They are kept alive. */
  connections: number;
  /** How long connecting may take, and how long each part of the answer. */
  timeoutMs: number;
}

const path = '/v1/ingest-events';

/**
 * Opens connections to ingest. Nothing is retried here.
 *
 * undici's dispatch, because it takes 31 µs of CPU for a small request where node:http takes 64 and fetch 265:
 * a load generator shares its machine with what it measures.
 */
export function openPost(options: PostOptions): { post: Post } & AsyncDisposable {
  const url = new URL(options.url);
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

function postOnce(pool: Pool, request: Dispatcher.DispatchOptions): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let status = 0;
    let retryAfter: string | undefined;
    pool.dispatch(request, {
      // undici tells its handlers apart by this method: it must be there.
      onRequestStart: () => {},
      onResponseStart: (_controller, statusCode, headers) => {
        const value = headers['retry-after'];
        status = statusCode;
        retryAfter = typeof value === 'string' ? value : undefined;
      },
      onResponseData: (controller, chunk) => {
        size += chunk.length;
        if (size > answerBytesMax) controller.abort(new Error('the answer is too long'));
        else chunks.push(chunk);
      },
      onResponseEnd: () => resolve({ status, body: Buffer.concat(chunks).toString(), retryAfter }),
      onResponseError: (_controller, error) => reject(error),
    });
  });
}
