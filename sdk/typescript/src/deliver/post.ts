import { answerBytesMax, keepaliveBytesMax, loneRequestMs, requestTimeoutMs } from '../limits.ts';
import { findBuiltin, findDocument, waitsForOneConnection } from '../runtime/platform.ts';
import { platformRuntime } from '../runtime/runtime.ts';

/** The response to a request. */
export interface Answer {
  status: number;
  /** `error.details` of docs/api.md §7; empty when the response is not from Weir. */
  details: string;
  /** Retry-After, if present. */
  retryAfterMs: number | undefined;
  /** Weir-Quota-Reset: time until the monthly quota resets. */
  quotaResetMs: number | undefined;
  /** Weir-Batch-Id of a 202. */
  batchId: string | undefined;
}

export interface PostOptions {
  url: string;
  apiKey: string;
  /** The application's fetch; without one, the global one at the time of the call. */
  fetch: typeof fetch | undefined;
  headers: Record<string, string>;
}

/** Sends one body. @throws an error of any class after a network failure or a time-out. */
export type Post = (body: Uint8Array<ArrayBuffer>, isUrgent?: boolean) => Promise<Answer>;

/** The connection to Weir. */
export interface Link {
  /** Sends a body. An urgent one is sent at once and uncompressed, because the page is about to close. */
  readonly post: Post;
  /** Aborts the requests in flight; they fail like after a network failure. */
  interrupt(): void;
}

export function openLink(options: PostOptions): Link {
  const underWay = new Set<AbortController>();
  return {
    async post(body, isUrgent = false) {
      const controller = new AbortController();
      underWay.add(controller);
      const cancelTimer = platformRuntime.setTimer(() => controller.abort(), requestTimeoutMs);
      const unwatch = abortWhenAlone(controller);
      try {
        return await send(options, { body, isUrgent, signal: controller.signal });
      } finally {
        cancelTimer();
        unwatch();
        underWay.delete(controller);
      }
    },
    interrupt() {
      for (const controller of underWay) controller.abort();
    },
  };
}

/**
 * Aborts a request once the process waits for nothing else, because a pending request must not delay the end
 * of a process. The flush at the end then uses its own, shorter time-out. @returns a function that stops
 * watching.
 */
function abortWhenAlone(controller: AbortController): () => void {
  let cancel = () => {};
  const look = () => {
    if (waitsForOneConnection()) controller.abort();
    else cancel = platformRuntime.setTimer(look, loneRequestMs);
  };
  cancel = platformRuntime.setTimer(look, loneRequestMs);
  return () => cancel();
}

async function send(
  { url, apiKey, fetch: ownFetch, headers }: PostOptions,
  { body, isUrgent, signal }: { body: Uint8Array<ArrayBuffer>; isUrgent: boolean; signal: AbortSignal },
): Promise<Answer> {
  // Compress small bodies, too: gzip's checksum distinguishes a body damaged in transit from a bad event.
  const packed = isUrgent ? undefined : await gzip(body);
  const sent = packed ?? body;
  const response = await (ownFetch ?? fetch)(endpointOf(url), {
    method: 'POST',
    headers: {
      ...headers,
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      ...(packed && { 'content-encoding': 'gzip' }),
    },
    body: sent,
    // A redirect would turn the POST into a GET, or carry the events to another host.
    redirect: 'manual',
    signal,
    ...(findDocument() && sent.length <= keepaliveBytesMax && { keepalive: true }),
  });
  return readAnswer(response);
}

/** @throws TypeError for an invalid URL. */
export function endpointOf(url: string): string {
  const path = '/v1/ingest-events';
  const { href } = new URL(url);
  const base = href.replace(/[?#].*$/, '').replace(/\/+$/, '');
  return base.endsWith(path) ? base : base + path;
}

async function readAnswer(response: Response): Promise<Answer> {
  const { status, headers } = response;
  const details = readDetails(await readText(response));
  const location = headers.get('location');
  return {
    status,
    details: details || (location ? `It redirects to ${location}` : ''),
    retryAfterMs: delayOf(headers.get('retry-after')),
    quotaResetMs: delayOf(headers.get('weir-quota-reset')),
    batchId: headers.get('weir-batch-id') ?? undefined,
  };
}

function readDetails(text: string): string {
  try {
    return String(JSON.parse(text).error.details ?? '');
  } catch {
    return '';
  }
}

/**
 * Reads the whole response, so that the connection can be reused. A response over `answerBytesMax` is cut
 * off.
 */
async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  let text = '';
  for (let size = 0; reader && size <= answerBytesMax; ) {
    const { done, value } = await reader.read();
    if (done) return text;
    size += value.length;
    text += decoder.decode(value, { stream: true });
  }
  await reader?.cancel().catch(() => {});
  return text;
}

/** Seconds or a date (RFC 9110 §10.2.3). */
function delayOf(header: string | null): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

interface Zlib {
  gzip(
    data: Uint8Array,
    options: { level: number },
    callback: (error: Error | null, packed: Uint8Array<ArrayBuffer>) => void,
  ): void;
}

/**
 * Events repeat their prompts: level 1 compresses them 10 to 30 times with a third of the CPU time of level
 * 6.
 */
const level = 1;

/** Compresses a body off the event loop. @returns undefined when the platform cannot. */
async function gzip(body: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    const zlib = findBuiltin<Zlib>('node:zlib');
    if (zlib) return await packWithZlib(zlib, body);
    if (typeof CompressionStream !== 'function') return undefined;
    const packed = new Blob([body]).stream().pipeThrough(new CompressionStream('gzip'));
    return new Uint8Array(await new Response(packed).arrayBuffer());
  } catch {
    return undefined;
  }
}

function packWithZlib(zlib: Zlib, body: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  return new Promise((resolve, reject) => {
    zlib.gzip(body, { level }, (error, packed) => (error ? reject(error) : resolve(packed)));
  });
}
