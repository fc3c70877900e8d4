import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** How a process ended: by its own exit code, or by a signal. */
export interface ProcessExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A server that we started and that answers. Disposing it stops it. */
export interface EmbeddedProcess extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Settles when the process has ended, for whatever reason. Never rejects. */
  readonly exited: Promise<ProcessExit>;
  /** Asks the process to stop, forces it when it does not, and resolves when it has ended. */
  stop(): Promise<void>;
}

/** A process of ours, whether it answers yet or not. */
export type SpawnedProcess = Pick<EmbeddedProcess, 'pid' | 'exited' | 'stop'>;

/** What a start of a server can be told by its caller. */
export interface StartHooks {
  /** Told the pid as soon as there is one. */
  onSpawn?: (pid: number) => void;
  /** Ends the wait for the server, which is then stopped. */
  signal?: AbortSignal;
}

/** What to send to a process that shall stop, and how long to wait before the next, harsher signal. */
export type StopSignals = readonly { signal: NodeJS.Signals; waitMs: number }[];

/** The port was free when it was chosen, and somebody else took it before the server did. */
export class PortTakenError extends Error {
  override name = 'PortTakenError';
}

/**
 * Spawns a server whose output goes to a log file, in a process group of its own: a Ctrl-C in the terminal must
 * reach only the supervisor, which stops the servers in order.
 *
 * @throws the system's error when the command cannot be run at all.
 */
export async function spawnServer(
  command: readonly [string, ...string[]],
  options: {
    logFile: string;
    stopSignals: StopSignals;
    /** Told the pid before anything else happens. */
    onSpawn?: ((pid: number) => void) | undefined;
    spawn?: SpawnOptions;
  },
): Promise<SpawnedProcess> {
  mkdirSync(dirname(options.logFile), { recursive: true });
  const log = openSync(options.logFile, 'a', 0o600);
  try {
    const [file, ...args] = command;
    const child = spawn(file, args, { ...options.spawn, detached: true, stdio: ['ignore', log, log] });
    const exited = exitOf(child);
    const pid = await spawned(child);
    options.onSpawn?.(pid);
    return { pid, exited, stop: () => stopProcess(child, exited, options.stopSignals) };
  } finally {
    closeSync(log);
  }
}

/** Resolves when the child has ended, and never rejects. */
export function exitOf(child: ChildProcess): Promise<ProcessExit> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', () => resolve({ code: null, signal: null }));
  });
}

/** Sends the signals one after the other until the process has ended; the last resort is SIGKILL. */
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

/** The length of a log file in bytes, to read later what was added; 0 when there is none. */
export function logLength(logFile: string): number {
  return statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
}

/** The last lines that a log file holds after a place in it. */
export function lastLogLines(logFile: string, after: number, linesMax = 12): string {
  if (logLength(logFile) === 0) return '';
  const text = readFileSync(logFile).subarray(after).toString('utf8');
  return text.trimEnd().split('\n').slice(-linesMax).join('\n');
}

/** "exit code 3" or "signal SIGKILL". */
export function describeExit({ code, signal }: ProcessExit): string {
  return signal === null ? `exit code ${code}` : `signal ${signal}`;
}

/** Whether a promise settles within a time. The timer does not keep the process alive. */
export function settlesWithin(promise: Promise<unknown>, waitMs: number): Promise<boolean> {
  const { promise: settled, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), waitMs);
  promise.then(
    () => resolve(true),
    () => resolve(true),
  );
  return settled.finally(() => clearTimeout(timer));
}

function spawned(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('spawn', () => resolve(child.pid ?? 0));
    child.once('error', reject);
  });
}
