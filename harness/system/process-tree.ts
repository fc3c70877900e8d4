import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { kill } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { readProcess } from '../../launcher/process/process-identity.ts';

const pollMs = 5;

/**
 * A process and its children. Postgres's backends are children, and outlive a killed postmaster for a moment.
 */
export function processTree(pid: number): number[] {
  const children = readdirSync('/proc')
    .map(Number)
    .filter((other) => other > 0 && readProcess(other)?.parentPid === pid);
  return [pid, ...children];
}

/** Pauses a process and its children. @returns their pids when all their threads are stopped. */
export async function pauseTree(pid: number): Promise<number[]> {
  // The parent first, so that it creates no more children.
  signalAll([pid], 'SIGSTOP');
  while (!isPaused(pid)) await sleep(pollMs);
  const tree = processTree(pid);
  signalAll(tree, 'SIGSTOP');
  while (!tree.every(isPaused)) await sleep(pollMs);
  return tree;
}

/** Sends a signal to the processes that are still alive. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      kill(pid, signal);
    } catch {
      // It has exited.
    }
  }
}

/** Resolves when none of the processes is alive. */
export async function untilGone(pids: readonly number[]): Promise<void> {
  while (pids.some((pid) => readProcess(pid) !== undefined)) await sleep(pollMs);
}

/** One field of /proc/…/status for each thread of a process; empty when the process has exited. */
export function readThreads(pid: number, field: string): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map((thread) => {
      const status = readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8');
      return new RegExp(`^${field}:\\s+(\\S+)`, 'm').exec(status)?.[1] ?? '';
    });
  } catch {
    return [];
  }
}

/** On a busy machine SIGSTOP reaches the threads of a process a moment after `kill` returns. */
function isPaused(pid: number): boolean {
  return readThreads(pid, 'State').every((state) => 'TtZX'.includes(state));
}

/** Why faults that read /proc are unsupported here; undefined when they are supported. */
export async function checkProc(): Promise<string | undefined> {
  return existsSync('/proc/self/stat') ? undefined : 'there is no /proc on this system';
}
