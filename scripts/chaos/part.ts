import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  describeExit,
  lastLogLines,
  logLength,
  type ProcessExit,
  type SpawnedProcess,
} from '../provision/embedded-process.ts';
import { keepAlive } from '../start/keep-alive.ts';

export type PartKind = 'ingest' | 'writer' | 'nats' | 'postgres';

/** One process of the system, kept alive as `npm start` keeps it. */
export interface Part extends AsyncDisposable {
  /** Its kind and a number: `ingest-1`; Postgres is `postgres`. */
  readonly name: string;
  readonly kind: PartKind;
  readonly logFile: string;
  /** Of the process that runs, or is starting. */
  pid(): number;
  isRunning(): boolean;
  /** Sends a signal; an end that comes of it is no violation. */
  kill(signal: NodeJS.Signals): void;
  /** From now on it is not started again when it ends, until `release`. */
  hold(): void;
  release(): void;
  /** Asks it to end in order, and waits for its end; with `hold` before, it stays down. */
  stop(): Promise<void>;
  /** Resolves when it has ended. At once, when it does not run. @throws Error when it does not end in time. */
  untilDown(): Promise<void>;
  /** Resolves when it runs and is ready. @throws Error when it is not in time. */
  untilRunning(): Promise<void>;
  /** The fault makes it end in other ways than by `kill`: no end is a violation until the round is over. */
  allowExits(): void;
  /** Called by the harness at the beginning of a round. */
  beginRound(): void;
  /** Ends since the beginning of the round that nobody asked for. */
  crashes(): string[];
  /** How it ended last; undefined when it never has. */
  lastExit(): ProcessExit | undefined;
  /** What it has logged since the beginning of the round. */
  roundLog(): string;
}

/** How a part is started: it resolves when the process is ready to work. */
export type StartProcess = (
  onSpawn: (pid: number) => void,
) => Promise<Pick<SpawnedProcess, 'exited' | 'stop'>>;

const pollMs = 20;

/** Recovery of a Postgres after a crash is the longest of what is waited for. */
const waitMsMax = 120_000;

/** Starts a part and keeps it alive. */
export async function startPart(
  what: Pick<Part, 'name' | 'kind' | 'logFile'>,
  start: StartProcess,
  report: (line: string) => void,
): Promise<Part> {
  // For whoever has to end what we leave when we are killed ourselves.
  const pidFile = join(dirname(what.logFile), '..', `pid-${what.name}`);
  let pid = 0;
  let current: Pick<SpawnedProcess, 'exited' | 'stop'> | undefined;
  let held = Promise.resolve();
  let release = () => {};
  let isHeld = false;
  let areExitsAllowed = false;
  let wasStopped = false;
  let logStart = 0;
  let lastExit: ProcessExit | undefined;
  const killed = new Set<number>();
  const crashes: string[] = [];

  const noteEnd = (endedPid: number, exit: ProcessExit) => {
    current = undefined;
    lastExit = exit;
    if (wasStopped || areExitsAllowed || killed.has(endedPid)) return;
    crashes.push(`${what.name} ended by itself (${describeExit(exit)})`);
  };
  const startOnce = async () => {
    await held;
    if (wasStopped) throw new Error('stopped');
    const running = await start((spawned) => {
      pid = spawned;
      writeFileSync(pidFile, String(pid));
    });
    const startedPid = pid;
    current = running;
    void running.exited.then((exit) => noteEnd(startedPid, exit));
    return running;
  };
  const kept = await keepAlive({
    name: what.name,
    start: startOnce,
    // The reason is in the logs, which are JSON; here every round has its reason.
    lastWords: () => '',
    report,
  });

  const part: Part = {
    ...what,
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
    untilDown: () => until(() => current === undefined, `${what.name} did not end`),
    untilRunning: () => until(() => current !== undefined, `${what.name} did not start`),
    allowExits() {
      areExitsAllowed = true;
    },
    beginRound() {
      areExitsAllowed = false;
      crashes.length = 0;
      killed.clear();
      logStart = logLength(what.logFile);
    },
    crashes: () => [...crashes],
    lastExit: () => lastExit,
    roundLog: () => lastLogLines(what.logFile, logStart, Number.POSITIVE_INFINITY),
    async [Symbol.asyncDispose]() {
      wasStopped = true;
      part.release();
      // A paused process would not hear that it is to stop.
      if (current !== undefined) process.kill(pid, 'SIGCONT');
      await kept[Symbol.asyncDispose]();
    },
  };
  return part;
}

async function until(condition: () => boolean, failure: string): Promise<void> {
  for (const deadlineMs = performance.now() + waitMsMax; !condition(); await sleep(pollMs)) {
    if (performance.now() > deadlineMs) throw new Error(`${failure} within ${waitMsMax / 1_000} s`);
  }
}
