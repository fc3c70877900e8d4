import { dirname, join } from 'node:path';
import process from 'node:process';
import { describeExit, type ProcessExit, type SpawnedProcess } from '../../launcher/process/child-process.ts';
import { logBytes, readLog } from '../../launcher/process/log-file.ts';
import { startRestartLoop } from '../../launcher/supervise/restart-loop.ts';
import type { ServiceName } from '../../launcher/supervise/service-process.ts';
import { until } from '../wait.ts';
import { writePidFile } from './pid-file.ts';

export type ProcessKind = ServiceName | 'nats' | 'postgres';

/** One process of a system, restarted whenever it exits, as under `npm start`. */
export interface ManagedProcess extends AsyncDisposable {
  /** `ingest-1`, `writer-1`, `nats-1`, …; Postgres is `postgres`. */
  readonly name: string;
  readonly kind: ProcessKind;
  readonly logFile: string;
  /** The pid of the current process, which may still be starting. */
  pid(): number;
  isRunning(): boolean;
  /** Sends a signal. An exit that follows is not a crash. */
  kill(signal: NodeJS.Signals): void;
  /** Suspends restarts until `release`. */
  hold(): void;
  release(): void;
  /** Stops the process gracefully and waits for its exit. It is restarted unless `hold` was called. */
  stop(): Promise<void>;
  /** Waits for the exit; resolves immediately when it is not running. @throws Error after a time-out. */
  untilDown(): Promise<void>;
  /** Waits until it is ready. @throws Error after a time-out. */
  untilRunning(): Promise<void>;
  /** For a fault that ends the process otherwise than with `kill`: no exit is a crash until the next round. */
  allowExits(): void;
  /** Resets what is recorded per round. */
  beginRound(): void;
  /** The unexpected exits in this round. */
  crashes(): string[];
  /** How it exited the last time; undefined if it never has. */
  lastExit(): ProcessExit | undefined;
  /** What it has logged in this round. */
  roundLog(): string;
}

/** Starts a process, and resolves when it is ready. */
export type StartProcess = (
  onSpawn: (pid: number) => void,
) => Promise<Pick<SpawnedProcess, 'exited' | 'stop'>>;

/** The recovery of Postgres after a crash takes longest. */
const waitMsMax = 120_000;

/** Starts a process and restarts it whenever it exits. */
export async function startManagedProcess(
  identity: Pick<ManagedProcess, 'name' | 'kind' | 'logFile'>,
  start: StartProcess,
  report: (line: string) => void,
): Promise<ManagedProcess> {
  const { name, logFile } = identity;
  // Lets a test run find the process if the harness does not stop it.
  const pidFile = join(dirname(logFile), '..', `pid-${name}`);
  let pid = 0;
  let current: Pick<SpawnedProcess, 'exited' | 'stop'> | undefined;
  let held = Promise.resolve();
  let release = () => {};
  let isHeld = false;
  let areExitsAllowed = false;
  let isDisposed = false;
  let logStart = 0;
  let lastExit: ProcessExit | undefined;
  const killed = new Set<number>();
  const crashes: string[] = [];

  const recordExit = (exitedPid: number, exit: ProcessExit) => {
    current = undefined;
    lastExit = exit;
    if (isDisposed || areExitsAllowed || killed.has(exitedPid)) return;
    crashes.push(`${name} crashed (${describeExit(exit)})`);
  };
  const startOnce = async () => {
    await held;
    if (isDisposed) throw new Error('stopped');
    const running = await start((spawned) => {
      pid = spawned;
      writePidFile(pidFile, pid);
    });
    const startedPid = pid;
    current = running;
    void running.exited.then((exit) => recordExit(startedPid, exit));
    return running;
  };
  // The last output is a JSON log entry, and the reason of an exit is the current fault.
  const supervised = await startRestartLoop({ name, start: startOnce, lastOutput: () => '', report });

  const managed: ManagedProcess = {
    ...identity,
    pid: () => pid,
    isRunning: () => current !== undefined,
    kill(signal) {
      killed.add(pid);
      process.kill(pid, signal);
    },
    hold() {
      if (isHeld) return;
      isHeld = true;
      ({ promise: held, resolve: release } = Promise.withResolvers<void>());
    },
    release() {
      isHeld = false;
      release();
    },
    async stop() {
      killed.add(pid);
      await current?.stop();
    },
    untilDown: () => until(() => current === undefined, waitMsMax, `${name} did not exit`),
    untilRunning: () => until(() => current !== undefined, waitMsMax, `${name} did not start`),
    allowExits() {
      areExitsAllowed = true;
    },
    beginRound() {
      areExitsAllowed = false;
      crashes.length = 0;
      killed.clear();
      logStart = logBytes(logFile);
    },
    crashes: () => [...crashes],
    lastExit: () => lastExit,
    roundLog: () => readLog(logFile, logStart),
    async [Symbol.asyncDispose]() {
      isDisposed = true;
      managed.release();
      // A paused process does not react to the signals that stop it.
      if (current !== undefined) process.kill(pid, 'SIGCONT');
      await supervised[Symbol.asyncDispose]();
    },
  };
  return managed;
}
