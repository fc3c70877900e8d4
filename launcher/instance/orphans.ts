import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from '../../platform/thrown.ts';
import { isAlive, type ProcessIdentity } from '../process/process-identity.ts';
import type { ChildRecord } from './supervisor-state.ts';

/** A service drains for up to 10 s, and Postgres writes a checkpoint. */
const stopTimeoutMs = 20_000;

const pollMs = 50;

/**
 * Stops the processes that a killed supervisor left running, the last started first. The identity is
 * compared: an unrelated process may have got the same pid.
 * @returns the names of the processes that were still running.
 */
export async function stopOrphans(
  children: readonly ChildRecord[],
  kill: (pid: number, signal: NodeJS.Signals) => void,
): Promise<string[]> {
  const orphans = children.filter(isAlive).toReversed();
  for (const orphan of orphans) {
    sendSignal(orphan, orphan.stopSignal, kill);
    if (await exitsWithin(orphan, stopTimeoutMs)) continue;
    sendSignal(orphan, 'SIGKILL', kill);
    await exitsWithin(orphan, stopTimeoutMs);
  }
  return orphans.map((orphan) => orphan.name);
}

/** Waits for the exit of a process that is not our child. */
export async function exitsWithin(identity: ProcessIdentity, timeoutMs: number): Promise<boolean> {
  for (const deadline = Date.now() + timeoutMs; Date.now() < deadline; await sleep(pollMs)) {
    if (!isAlive(identity)) return true;
  }
  return false;
}

function sendSignal(
  { pid }: ProcessIdentity,
  signal: NodeJS.Signals,
  kill: (pid: number, signal: NodeJS.Signals) => void,
): void {
  try {
    kill(pid, signal);
  } catch (error) {
    // ESRCH: exited in the meantime. Anything else is reported, e.g. another user's process.
    if (codeOf(error) !== 'ESRCH') throw error;
  }
}
