import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { type ServiceName, serviceNames } from '../../platform/config/variables.ts';
import { drainTimeoutMs } from '../../platform/limits.ts';
import { preloadOption } from '../preload.mjs';
import {
  describeExit,
  exitOf,
  type SpawnedProcess,
  type StopSignals,
  stopProcess,
} from '../process/child-process.ts';
import { lastLogLines, logBytes } from '../process/log-file.ts';

export function isServiceName(name: string): name is ServiceName {
  return serviceNames.some((one) => one === name);
}

const ownRoot = fileURLToPath(new URL('../..', import.meta.url));

/** A service exits by itself when its drain takes too long (platform/service.ts); SIGKILL is for one that hangs. */
const stopSignals = (env: { DRAIN_DELAY_MS?: string | undefined }): StopSignals => [
  { signal: 'SIGTERM', waitMs: Number(env.DRAIN_DELAY_MS ?? 0) + drainTimeoutMs + 2_000 },
];

/** A service loads its code, connects, and checks the queue: seconds on a slow machine, more in a cluster. */
const readyTimeoutMs = 60_000;

/**
 * 0 gives V8 one worker thread less than there are cores. Node's default is four threads on any machine: on two cores a
 * garbage collection then takes both cores from all other work (ADR 0008).
 *
 * The import makes loading Drizzle cheap (ADR 0014), and corrects the Postgres driver (ADR 0004).
 */
const nodeOptions = (root: string) => ['--v8-pool-size=0', preloadOption(root)];

/**
 * The dashboard API and the writer allocate in bursts, already while they load their code, which let V8's young generation grow to
 * 64 MiB permanently. With 8 MiB they use no more CPU time (ADR 0020). In ingest the bound costs CPU time (ADR 0013).
 */
const ownNodeOptions: Record<ServiceName, readonly string[]> = {
  ingest: [],
  writer: ['--max-semi-space-size=4'],
  'dashboard-api': ['--max-semi-space-size=4'],
};

/** The Node options of a service, of this checkout or another one. */
export const nodeOptionsOf = (name: ServiceName, root = ownRoot): readonly string[] => [
  ...nodeOptions(root),
  ...ownNodeOptions[name],
];

export const scriptOf = (name: ServiceName, root = ownRoot): string =>
  join(root, 'services', name, 'main.ts');

/**
 * Settings of glibc's malloc, which other C libraries ignore. Allocations of 2 MiB and more are returned to the system when
 * they are freed; by default glibc raises this threshold after the first large one, and each thread keeps freed memory
 * (ADR 0013). Below it is the memory in which zstd compresses the small requests of a group.
 */
export const mallocVariables = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: String(2 * 1024 ** 2),
  MALLOC_TRIM_THRESHOLD_: String(8 * 1024 ** 2),
};

/** The message that a service sends over IPC when it is ready. */
export interface ReadyMessage {
  /** The address it listens on, if it listens. */
  url?: string;
  /** The address of its service port (platform/metrics/service-port.ts). */
  metricsUrl?: string;
}

/**
 * The directory of Node's compile cache: with stripped types and compiled code in it, a service starts faster, and does not load Node's
 * TypeScript parser, which leaves 15 to 50 MB of memory behind. Where the directory cannot be written nothing is cached.
 */
const compileCacheOf = (root: string) => join(root, 'node_modules', '.cache', 'weir-compiled');

export interface ServiceProcess extends SpawnedProcess {
  ready: ReadyMessage;
}

/**
 * Starts one of our services, and resolves when it reports that it is ready.
 *
 * @throws Error with the service's last output when it exits first or is not ready in time.
 */
export async function startService(options: {
  name: ServiceName;
  env: Record<string, string | undefined>;
  /** Absent: it writes to the output of this process. */
  logFile?: string | undefined;
  /** Called with the pid right after the spawn. */
  onSpawn: (pid: number) => void;
  /** Aborts the start; the service is then stopped. */
  signal?: AbortSignal;
  /** The checkout whose code it runs. Default: this one. */
  root?: string | undefined;
}): Promise<ServiceProcess> {
  const { logFile } = options;
  const logStart = logFile === undefined ? 0 : logBytes(logFile);
  const child = spawnService(options);
  const exited = exitOf(child);
  if (child.pid !== undefined) options.onSpawn(child.pid);
  const ready = readyMessage(child);
  const signals = options.signal === undefined ? [] : [options.signal];
  const timeout = AbortSignal.any([...signals, AbortSignal.timeout(readyTimeoutMs)]);
  const details = await Promise.race([ready, exited.then(() => undefined), aborted(timeout)]);
  const stop = () => stopProcess(child, exited, stopSignals(options.env));
  if (details !== undefined) return { pid: child.pid ?? 0, exited, ready: details, stop };
  await stop();
  options.signal?.throwIfAborted();
  throw new Error(
    `${options.name} did not start (${describeExit(await exited)}).\n${logFile === undefined ? '' : plainLines(logFile, logStart).join('\n')}`,
  );
}

/** The last line of a service's output that is neither a log entry nor part of a stack: the reason of its exit. */
export function lastPlainLine(logFile: string, logStart: number): string {
  return (
    plainLines(logFile, logStart)
      .filter((line) => !/^\s|^Node\.js v/.test(line))
      .at(-1) ?? ''
  );
}

/** The lines that are not log entries, which are JSON. */
function plainLines(logFile: string, logStart: number): string[] {
  return lastLogLines(logFile, logStart, 200)
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('{'));
}

/**
 * The service writes directly to the log file: when the supervisor is killed, no output is lost and the service gets no
 * EPIPE. It has a process group of its own, so that Ctrl-C does not reach it before we stop it in order.
 */
function spawnService({
  name,
  env,
  logFile,
  root = ownRoot,
}: {
  name: ServiceName;
  env: Record<string, string | undefined>;
  logFile?: string | undefined;
  root?: string | undefined;
}): ChildProcess {
  const log = logFile === undefined ? undefined : openSync(logFile, 'a', 0o600);
  const output = log ?? 'inherit';
  try {
    return spawn(execPath, [...nodeOptionsOf(name, root), scriptOf(name, root)], {
      env: { ...mallocVariables, NODE_COMPILE_CACHE: compileCacheOf(root), ...env },
      detached: true,
      stdio: ['ignore', output, output, 'ipc'],
    });
  } finally {
    if (log !== undefined) closeSync(log);
  }
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}

function readyMessage(child: ChildProcess): Promise<ReadyMessage> {
  return new Promise((resolve) => {
    child.on('message', (message: { ready?: boolean } & ReadyMessage) => {
      if (message.ready) resolve(message);
    });
  });
}
