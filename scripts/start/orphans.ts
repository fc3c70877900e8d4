import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive, type ProcessMark } from './process-identity.ts';
import type { ChildMark } from './supervisor-state.ts';

/** A service drains for up to 10 s, and Postgres writes its checkpoint. */
const stopTimeoutMs = 20_000;

const pollMs = 50;

/**
 * Stops what a killed supervisor left, the last started first. Processes are known by more than their pid: a stranger
 * with the same pid is left alone.
 *
 * @returns the names of those that were still there.
 */
export async function stopOrphans(
  children: readonly ChildMark[],
  kill: (pid: number, signal: NodeJS.Signals) => void,
): Promise<string[]> {
  const orphans = children.filter(isAlive).toReversed();
  for (const orphan of orphans) {
    sendSignal(orphan, orphan.stopSignal, kill);
    if (await endsWithin(orphan, stopTimeoutMs)) continue;
    sendSignal(orphan, 'SIGKILL', kill);
    await endsWithin(orphan, stopTimeoutMs);
  }
  return orphans.map((orphan) => orphan.name);
}

/** Waits for a process that is not a child of ours. */
export async function endsWithin(mark: ProcessMark, timeoutMs: number): Promise<boolean> {
  for (const deadline = Date.now() + timeoutMs; Date.now() < deadline; await sleep(pollMs)) {
    if (!isAlive(mark)) return true;
  }
  return false;
}

function sendSignal(
  mark: ProcessMark,
  signal: NodeJS.Signals,
  kill: (pid: number, signal: NodeJS.Signals) => void,
): void {
  try {
    kill(mark.pid, signal);
  } catch (error) {
    // ESRCH: it ended in this moment. Anything else (another user's process) is worth the trace.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
