import { setTimeout as sleep } from 'node:timers/promises';
import { retryAfterMaxMs, sendBackoffMaxMs, sendBackoffMinMs } from '../limits.ts';
import type { Answer, Post } from './post.ts';

/** Why a body was not accepted: the error of contract §7, or what else came instead. */
export interface DeliveryError {
  /** Null when no answer came at all. */
  status: number | null;
  id: string;
  details: string;
}

/** What became of a body: accepted where there is no error. */
export interface Delivery {
  error: DeliveryError | undefined;
  attempts: number;
}

export interface DeliverOptions {
  /** A body is given up when it is refused or unanswered after this time. */
  retryForMs: number;
  /** Called with how long each answered request took. */
  onAnswer?: (durationMs: number) => void;
  /** Called before each wait, with what made it necessary. */
  onRetry?: (error: DeliveryError, waitMs: number) => void;
}

/**
 * Sends a body until it is answered for good, by the contract's rules for clients (§7): 5xx and network failures are
 * retried with the same bytes, and so the same ids; what else is refused is not. Waits grow, are spread by chance, and
 * honour Retry-After.
 */
export async function deliver(post: Post, body: Uint8Array, options: DeliverOptions): Promise<Delivery> {
  const started = performance.now();
  for (let attempts = 1; ; attempts++) {
    const attemptStarted = performance.now();
    const outcome = await post(body).then(
      (answer) => ({ answer, error: describeAnswer(answer) }),
      (error: unknown) => ({ answer: undefined, error: describeFailure(error) }),
    );
    const now = performance.now();
    if (outcome.answer !== undefined) options.onAnswer?.(now - attemptStarted);
    const final = outcome.error === undefined || !isTransient(outcome.error.status);
    if (final || now - started >= options.retryForMs) return { error: outcome.error, attempts };
    const waitMs = chooseWaitMs(attempts, outcome.answer?.retryAfter);
    if (outcome.error !== undefined) options.onRetry?.(outcome.error, waitMs);
    await sleep(waitMs);
  }
}

/** 408 and 429 are not ingest's, but a proxy's before it, and say the same: later. */
function isTransient(status: number | null): boolean {
  return status === null || status >= 500 || status === 408 || status === 429;
}

/** A random half of each wait keeps clients that failed together from coming back together. */
function chooseWaitMs(attempts: number, retryAfter: string | undefined): number {
  const backoffMs = Math.min(sendBackoffMinMs * 2 ** (attempts - 1), sendBackoffMaxMs);
  const spreadMs = (backoffMs / 2) * Math.random();
  return Math.max(backoffMs / 2, readRetryAfterMs(retryAfter)) + spreadMs;
}

/** Retry-After is a number of seconds or a date (RFC 9110 §10.2.3). */
function readRetryAfterMs(text: string | undefined): number {
  if (text === undefined) return 0;
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), retryAfterMaxMs);
}

function describeAnswer({ status, body }: Answer): DeliveryError | undefined {
  if (status === 202) return undefined;
  return { status, ...(readErrorBody(body) ?? { id: 'unexpected_answer', details: body.slice(0, 200) }) };
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

function describeFailure(thrown: unknown): DeliveryError {
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : undefined;
  const message = thrown instanceof Error && thrown.message !== '' ? thrown.message : String(thrown);
  const details = code === undefined || message.includes(code) ? message : `${message} (${code})`;
  return { status: null, id: 'network_failure', details };
}
