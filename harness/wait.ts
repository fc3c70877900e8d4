import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '../store/db/connect.ts';

const pollMs = 20;
const retryPauseMs = 200;

/**
 * Polls until a condition holds.
 *
 * @param message says what did not happen, for the error.
 * @throws Error when the condition does not hold within the time.
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 60_000,
  message: string | (() => string) = () => `the condition does not hold: ${condition}`,
): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadlineMs) {
      throw new Error(
        `${typeof message === 'string' ? message : message()} (waited ${Math.round(timeoutMs)} ms)`,
      );
    }
    await sleep(pollMs);
  }
}

/** A trace waits up to a minute for an event that is announced and not stored yet. */
const resolvedTimeoutMs = 180_000;

/**
 * Waits until the traces of a space are resolved: what is stored of them has its final agents, threads and
 * users.
 */
export async function untilResolved(sql: Sql, spaceId: string): Promise<void> {
  const isResolved = async () => {
    const waiting = await sql`
      SELECT FROM traces WHERE space_id = ${spaceId} AND unresolved_since IS NOT NULL LIMIT 1`;
    return waiting.length === 0;
  };
  await until(isResolved, resolvedTimeoutMs, 'traces are not resolved');
}

/**
 * Retries an operation that fails while Postgres restarts.
 *
 * @throws the last error when it still fails after the time.
 */
export async function retry<T>(run: () => PromiseLike<T>, timeoutMs = 30_000): Promise<T> {
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (performance.now() > deadlineMs) throw error;
      await sleep(retryPauseMs);
    }
  }
}
