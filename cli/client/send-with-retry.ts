import { setTimeout as sleep } from 'node:timers/promises';
import type { IngestResponse, Post } from './ingest-client.ts';

/** The first wait before a retry, and the longest: each is twice the one before. */
const sendBackoffMinMs = 100;
const sendBackoffMaxMs = 5_000;

/** A longer Retry-After is cut to this: a proxy that asks for an hour must not make the client look hung. */
const retryAfterMaxMs = 30_000;

/** The error of docs/api.md §7, or a description of any other outcome. */
export interface SendError {
  /** The HTTP status; null without a response. */
  status: number | null;
  id: string;
  details: string;
}

export interface RetryOptions {
  /** A failure later than this after the start of the first attempt is final. */
  retryForMs: number;
  onResponse?: (durationMs: number) => void;
  /** Called before each wait, with the error that causes the retry. */
  onRetry?: (error: SendError, waitMs: number) => void;
  /** Returns the error that a response reports. By default it reads responses of `/v1/ingest-events`. */
  describeResponse?: (response: IngestResponse) => SendError | undefined;
}

/**
 * Sends a body by the retry rules (docs/api.md §7.1): 5xx and network failures are retried with the same
 * bytes and ids; other errors are final. Waits grow exponentially with jitter, and honour Retry-After.
 * @returns the body was accepted when `error` is undefined.
 */
export async function sendWithRetry(post: Post, body: Uint8Array, options: RetryOptions) {
  const { describeResponse = describeBatchResponse } = options;
  const started = performance.now();
  for (let attempts = 1; ; attempts++) {
    const attemptStarted = performance.now();
    const outcome = await post(body).then(
      (response) => ({ response, error: describeResponse(response) }),
      (error: unknown) => ({ response: undefined, error: describeFailure(error) }),
    );
    const now = performance.now();
    if (outcome.response !== undefined) options.onResponse?.(now - attemptStarted);
    const final = outcome.error === undefined || !isTransient(outcome.error.status);
    if (final || now - started >= options.retryForMs) return { error: outcome.error, attempts };
    const waitMs = chooseWaitMs(attempts, outcome.response?.retryAfter);
    if (outcome.error !== undefined) options.onRetry?.(outcome.error, waitMs);
    await sleep(waitMs);
  }
}

/** Whether a retry may succeed. 408 and 429 come from a proxy in front of ingest. */
export function isTransient(status: number | null): boolean {
  return status === null || status >= 500 || status === 408 || status === 429;
}

/** Half of each wait is random, so that clients that failed together do not retry together. */
function chooseWaitMs(attempts: number, retryAfter: string | undefined): number {
  const backoffMs = Math.min(sendBackoffMinMs * 2 ** (attempts - 1), sendBackoffMaxMs);
  const jitterMs = (backoffMs / 2) * Math.random();
  return Math.max(backoffMs / 2, readRetryAfterMs(retryAfter)) + jitterMs;
}

/** Retry-After is a number of seconds or a date (RFC 9110 §10.2.3). */
function readRetryAfterMs(text: string | undefined): number {
  if (text === undefined) return 0;
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), retryAfterMaxMs);
}

function describeBatchResponse({ status, body }: IngestResponse): SendError | undefined {
  return status === 202 ? undefined : { status, ...(readErrorBody(body) ?? unexpectedAnswer(body)) };
}

/** The error for a response that is not from ingest. */
export function unexpectedAnswer(body: string): Omit<SendError, 'status'> {
  return { id: 'unexpected_answer', details: body.slice(0, 200) };
}

function readErrorBody(body: string): { id: string; details: string } | undefined {
  try {
    const parsed: { error?: { id?: unknown; details?: unknown } } | null = JSON.parse(body);
    const { id, details } = parsed?.error ?? {};
    return typeof id === 'string' ? { id, details: String(details) } : undefined;
  } catch {
    return undefined;
  }
}

function describeFailure(thrown: unknown): SendError {
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : undefined;
  const message = thrown instanceof Error && thrown.message !== '' ? thrown.message : String(thrown);
  const details = code === undefined || message.includes(code) ? message : `${message} (${code})`;
  return { status: null, id: 'network_failure', details };
}
