import type { Sender } from '../deliver/sender.ts';
import { backoffFirstMs } from '../limits.ts';
import type { Counters } from '../queue/counters.ts';
import { type Runtime, sleep, within } from '../runtime/runtime.ts';
import type { Snapshots } from './snapshots.ts';

export interface FlushParts {
  runtime: Runtime;
  sender: Sender;
  counters: Counters;
  snapshots: Snapshots;
}

/** Sends until the events recorded so far are settled, or until nothing can be sent within the time. */
export async function flushWithin(
  { runtime, sender, counters, snapshots }: FlushParts,
  timeoutMs: number,
): Promise<void> {
  const deadlineMs = runtime.nowMs() + timeoutMs;
  await snapshots.settled();
  const target = counters.settled + sender.pending;
  sender.retryNow();
  while (counters.settled < target && sender.pending > 0) {
    const leftMs = deadlineMs - runtime.nowMs();
    const { waitMs } = sender;
    if (leftMs <= 0 || waitMs >= leftMs || (sender.isPaused && waitMs > 0)) return sender.stopDraining();
    await (waitMs > 0 ? sleep(runtime, waitMs) : within(runtime, sender.drain(), leftMs));
  }
}

/** Sends without sharing a request, timer or promise with other invocations, which edge runtimes forbid. */
export async function flushBeside(
  { runtime, sender, snapshots }: FlushParts,
  timeoutMs: number,
): Promise<void> {
  const deadlineMs = runtime.nowMs() + timeoutMs;
  await snapshots.settled();
  for (let waitMs = backoffFirstMs; ; waitMs *= 2) {
    const outcome = await sender.sendBeside(Number.POSITIVE_INFINITY, false);
    if (outcome.kind !== 'retry') return;
    const delayMs = Math.max(waitMs, outcome.afterMs);
    if (runtime.nowMs() + delayMs >= deadlineMs) return;
    await sleep(runtime, delayMs);
  }
}
