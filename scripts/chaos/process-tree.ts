import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { kill } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { readProcess } from '../start/process-identity.ts';

const pollMs = 5;

/** A process and its children: Postgres works in children, which outlive a killed parent for a moment. */
export function processTree(pid: number): number[] {
  const children = readdirSync('/proc')
    .map(Number)
    .filter((other) => other > 0 && readProcess(other)?.parentPid === pid);
  return [pid, ...children];
}

/** Pauses a process with its children, and returns their pids when all their threads stand still. */
export async function pauseTree(pid: number): Promise<number[]> {
  // The parent first, so that it makes no more of them.
  signalAll([pid], 'SIGSTOP');
  while (!isPaused(pid)) await sleep(pollMs);
  const tree = processTree(pid);
  signalAll(tree, 'SIGSTOP');
  while (!tree.every(isPaused)) await sleep(pollMs);
  return tree;
}

/** Sends a signal to those that still live. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      kill(pid, signal);
    } catch {
      // It has ended by itself.
    }
  }
}

/** Resolves when none of them is left. */
export async function untilGone(pids: readonly number[]): Promise<void> {
  while (pids.some((pid) => readProcess(pid) !== undefined)) await sleep(pollMs);
}

/** One field of /proc/…/status, for each thread of a process; nothing for a process that has ended. */
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

/** A signal reaches a process at once, but on a busy machine its threads a moment later. */
function isPaused(pid: number): boolean {
  return readThreads(pid, 'State').every((state) => 'TtZX'.includes(state));
}

/** The obstacle of faults that need to see processes. */
export async function findMissingProc(): Promise<string | undefined> {
  return existsSync('/proc/self/stat') ? undefined : 'there is no /proc here, which tells the processes';
}
