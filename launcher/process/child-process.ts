import type { ChildProcess } from 'node:child_process';
import { TimeoutError, withTimeout } from '../../platform/timeout.ts';

export interface ProcessExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface SpawnedProcess {
  readonly pid: number;
  /** Resolves when the process has exited, for whatever reason. Never rejects. */
  readonly exited: Promise<ProcessExit>;
  /** Signals the process to stop, kills it when it does not, and resolves when it has exited. */
  stop(): Promise<void>;
}

/** The signals that stop a process, each with the wait before the next, harsher one. */
export type StopSignals = readonly { signal: NodeJS.Signals; waitMs: number }[];

/** Resolves when the child has exited, or could not be spawned. Never rejects. */
export function exitOf(child: ChildProcess): Promise<ProcessExit> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', () => resolve({ code: null, signal: null }));
  });
}

/** Sends the signals in order until the process has exited, and SIGKILL last. */
export async function stopProcess(
  child: ChildProcess,
  exited: Promise<ProcessExit>,
  stopSignals: StopSignals,
): Promise<void> {
  for (const { signal, waitMs } of stopSignals) {
    child.kill(signal);
    if (await settlesWithin(exited, waitMs)) return;
  }
  child.kill('SIGKILL');
  await exited;
}

/** `exit code 3` or `signal SIGKILL`. */
export function describeExit({ code, signal }: ProcessExit): string {
  return signal === null ? `exit code ${code}` : `signal ${signal}`;
}

export function settlesWithin(promise: Promise<unknown>, waitMs: number): Promise<boolean> {
  return withTimeout(waitMs, promise).then(
    () => true,
    (error: unknown) => !(error instanceof TimeoutError),
  );
}
