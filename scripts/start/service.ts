import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { drainTimeoutMs } from '../../lib/limits.ts';
import {
  describeExit,
  exitOf,
  lastLogLines,
  logLength,
  type SpawnedProcess,
  type StopSignals,
  stopProcess,
} from '../provision/embedded-process.ts';

export type ServiceName = 'ingest' | 'writer' | 'dashboard-api';

/** A service ends itself when its drain takes too long (lib/run.ts); this is for one that cannot even do that. */
const stopSignals: StopSignals = [{ signal: 'SIGTERM', waitMs: drainTimeoutMs + 2_000 }];

/** A service reads its code, connects and checks the queue; on a slow machine that may take a while. */
const readyTimeoutMs = 60_000;

/**
 * As many threads for V8's garbage as there are other cores. Node starts four anywhere: on two cores they take both of
 * them from everybody while they work (ADR 0008).
 */
const nodeOptions = ['--v8-pool-size=0'];

/** What a service tells with its ready message. */
export interface ReadyDetails {
  /** Where it listens, if it does. */
  url?: string;
}

export interface ServiceProcess extends SpawnedProcess {
  ready: ReadyDetails;
}

/**
 * Starts one of our services, and resolves when it says that it is ready.
 *
 * @throws Error with the service's own last words when it ends before.
 */
export async function startService(options: {
  name: ServiceName;
  env: Record<string, string | undefined>;
  logFile: string;
  /** Told the pid before anything else happens. */
  onSpawn: (pid: number) => void;
  /** Ends the wait, and the service. */
  signal: AbortSignal;
}): Promise<ServiceProcess> {
  const logStart = logLength(options.logFile);
  const child = spawnService(options);
  const exited = exitOf(child);
  if (child.pid !== undefined) options.onSpawn(child.pid);
  const ready = readyMessage(child);
  const timeout = AbortSignal.any([options.signal, AbortSignal.timeout(readyTimeoutMs)]);
  const details = await Promise.race([ready, exited.then(() => undefined), aborted(timeout)]);
  const stop = () => stopProcess(child, exited, stopSignals);
  if (details !== undefined) return { pid: child.pid ?? 0, exited, ready: details, stop };
  await stop();
  options.signal.throwIfAborted();
  throw new Error(
    `${options.name} did not start (${describeExit(await exited)}).\n${plainLines(options.logFile, logStart).join('\n')}`,
  );
}

/** The last line that a service wrote which is not an entry of its log: its own word about its end. */
export function lastWordsOf(logFile: string, logStart: number): string {
  return (
    plainLines(logFile, logStart)
      .filter((line) => !/^\s|^Node\.js v/.test(line))
      .at(-1) ?? ''
  );
}

function plainLines(logFile: string, after: number): string[] {
  return lastLogLines(logFile, after, 200)
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('{'));
}

/**
 * The log file itself is the service's output: nothing is lost, and nothing breaks for the service, when the supervisor
 * is killed. In a process group of its own Ctrl-C does not reach it before we stop it in order.
 */
function spawnService({
  name,
  env,
  logFile,
}: {
  name: ServiceName;
  env: Record<string, string | undefined>;
  logFile: string;
}): ChildProcess {
  const script = fileURLToPath(new URL(`../../services/${name}/main.ts`, import.meta.url));
  const log = openSync(logFile, 'a', 0o600);
  try {
    return spawn(execPath, [...nodeOptions, script], {
      env,
      detached: true,
      stdio: ['ignore', log, log, 'ipc'],
    });
  } finally {
    closeSync(log);
  }
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}

function readyMessage(child: ChildProcess): Promise<ReadyDetails> {
  return new Promise((resolve) => {
    child.on('message', (message: { ready?: boolean } & ReadyDetails) => {
      if (message.ready) resolve(message);
    });
  });
}
