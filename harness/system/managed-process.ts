import { dirname, join } from 'node:path';
import process from 'node:process';
import { describeExit, type ProcessExit, type SpawnedProcess } from '../../launcher/process/child-process.ts';
import { logBytes, readLog } from '../../launcher/process/log-file.ts';
import { startRestartLoop } from '../../launcher/supervise/restart-loop.ts';
import type { ServiceName } from '../../platform/config/services.ts';
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
  /**
   * For a fault that ends the process otherwise than with `kill`: no exit is a crash until the next round.
   */
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
  const managed = new Managed(identity);
  // The last output is a JSON log entry, and the reason of an exit is the current fault.
  const { name } = identity;
  const loop = await startRestartLoop({
    name,
    start: () => managed.start(start),
    lastOutput: () => '',
    report,
  });
  managed.supervisedBy(loop);
  return managed;
}

/** Like Promise.all, but waits for all: when one cannot start, its system disposes of the others. */
export async function allStarted(starts: readonly Promise<ManagedProcess>[]): Promise<ManagedProcess[]> {
  await Promise.allSettled(starts);
  return Promise.all(starts);
}

/** Its functions are properties, so that callers may take them from the object. */
class Managed implements ManagedProcess {
  readonly name: string;
  readonly kind: ProcessKind;
  readonly logFile: string;
  #pid = 0;
  #current: Pick<SpawnedProcess, 'exited' | 'stop'> | undefined;
  #loop: AsyncDisposable | undefined;
  #held = Promise.resolve();
  #release: (() => void) | undefined;
  #areExitsAllowed = false;
  #isDisposed = false;
  #logStart = 0;
  #lastExit: ProcessExit | undefined;
  readonly #killed = new Set<number>();
  readonly #crashes: string[] = [];

  constructor({ name, kind, logFile }: Pick<ManagedProcess, 'name' | 'kind' | 'logFile'>) {
    this.name = name;
    this.kind = kind;
    this.logFile = logFile;
  }

  async start(start: StartProcess) {
    await this.#held;
    if (this.#isDisposed) throw new Error('stopped');
    const running = await start((pid) => {
      this.#pid = pid;
      // Lets a test run find the process if the harness does not stop it.
      writePidFile(join(dirname(this.logFile), '..', `pid-${this.name}`), pid);
    });
    const pid = this.#pid;
    this.#current = running;
    void running.exited.then((exit) => this.#recordExit(pid, exit));
    return running;
  }

  supervisedBy(loop: AsyncDisposable): void {
    this.#loop = loop;
  }

  readonly pid = () => this.#pid;

  readonly isRunning = () => this.#current !== undefined;

  readonly kill = (signal: NodeJS.Signals) => {
    this.#killed.add(this.#pid);
    process.kill(this.#pid, signal);
  };

  readonly hold = () => {
    if (this.#release !== undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#held = promise;
    this.#release = resolve;
  };

  readonly release = () => {
    this.#release?.();
    this.#release = undefined;
  };

  readonly stop = async () => {
    this.#killed.add(this.#pid);
    await this.#current?.stop();
  };

  readonly untilDown = () => until(() => !this.isRunning(), waitMsMax, `${this.name} did not exit`);

  readonly untilRunning = () => until(() => this.isRunning(), waitMsMax, `${this.name} did not start`);

  readonly allowExits = () => {
    this.#areExitsAllowed = true;
  };

  readonly beginRound = () => {
    this.#areExitsAllowed = false;
    this.#crashes.length = 0;
    this.#killed.clear();
    this.#logStart = logBytes(this.logFile);
  };

  readonly crashes = () => [...this.#crashes];

  readonly lastExit = () => this.#lastExit;

  readonly roundLog = () => readLog(this.logFile, this.#logStart);

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    this.release();
    // A paused process does not react to the signals that stop it.
    if (this.isRunning()) process.kill(this.#pid, 'SIGCONT');
    await this.#loop?.[Symbol.asyncDispose]();
  }

  #recordExit(pid: number, exit: ProcessExit): void {
    this.#current = undefined;
    this.#lastExit = exit;
    if (this.#isDisposed || this.#areExitsAllowed || this.#killed.has(pid)) return;
    this.#crashes.push(`${this.name} crashed (${describeExit(exit)})`);
  }
}
