import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { type ServiceName, serviceNames } from '../../platform/config/services.ts';
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

/** SIGKILL is for a service that hangs; a slow drain ends by itself (platform/service.ts). */
const stopSignals = (env: { DRAIN_DELAY_MS?: string | undefined }): StopSignals => [
  { signal: 'SIGTERM', waitMs: Number(env.DRAIN_DELAY_MS ?? 0) + drainTimeoutMs + 2_000 },
];

/** Loading code, connecting and checking the queue takes seconds on a slow machine, more in a cluster. */
const readyTimeoutMs = 60_000;

/**
 * `--v8-pool-size=0` gives V8 one thread less than there are cores: with Node's four a garbage collection
 * takes both of two cores (ADR 0008). The import makes loading Drizzle cheap (ADR 0014), and corrects the
 * Postgres driver (ADR 0004).
 */
const nodeOptions = (root: string) => ['--v8-pool-size=0', preloadOption(root)];

/**
 * The dashboard API and the writer allocate in bursts, for which V8 would grow its young generation to 64 MiB
 * permanently. 8 MiB cost them no CPU time (ADR 0020), but would ingest (ADR 0013).
 */
const ownNodeOptions: Record<ServiceName, readonly string[]> = {
  ingest: [],
  writer: ['--max-semi-space-size=4'],
  'dashboard-api': ['--max-semi-space-size=4'],
};

export const nodeOptionsOf = (name: ServiceName, root = ownRoot): readonly string[] => [
  ...nodeOptions(root),
  ...ownNodeOptions[name],
];

export const scriptOf = (name: ServiceName, root = ownRoot): string =>
  join(root, 'services', name, 'main.ts');

/**
 * Settings of glibc's malloc: allocations of 2 MiB and more return to the system when freed. By default the
 * first large one raises this threshold, and each thread keeps freed memory (ADR 0013). Below it is the
 * memory in which zstd compresses a group's small requests.
 */
export const mallocVariables = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: String(2 * 1024 ** 2),
  MALLOC_TRIM_THRESHOLD_: String(8 * 1024 ** 2),
};

/** The message that a service sends over IPC when it is ready. */
export interface ReadyMessage {
  url?: string;
  /** The address of its service port (platform/metrics/service-port.ts). */
  metricsUrl?: string;
}

/** Node's compile cache: a service starts faster, and without Node's TypeScript parser, 15 to 50 MB. */
const compileCacheOf = (root: string) => join(root, 'node_modules', '.cache', 'weir-compiled');

interface SpawnOptions {
  name: ServiceName;
  env: Record<string, string | undefined>;
  /** Absent: it writes to the output of this process. */
  logFile?: string | undefined;
  /** The checkout whose code runs. Default: this one. */
  root?: string | undefined;
}

export interface ServiceProcess extends SpawnedProcess {
  ready: ReadyMessage;
}

/**
 * Starts a service, and resolves when it reports that it is ready.
 * @throws Error with the service's last output when it exits first or is not ready in time.
 */
export async function startService(
  options: SpawnOptions & {
    onSpawn: (pid: number) => void;
    /** Aborts the start, and stops the service. */
    signal?: AbortSignal;
  },
): Promise<ServiceProcess> {
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

/** The reason of an exit: the last line that is neither a log entry nor part of a stack. */
export function lastPlainLine(logFile: string, logStart: number): string {
  return (
    plainLines(logFile, logStart)
      .filter((line) => !/^\s|^Node\.js v/.test(line))
      .at(-1) ?? ''
  );
}

/** Log entries are JSON. */
function plainLines(logFile: string, logStart: number): string[] {
  return lastLogLines(logFile, logStart, 200)
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('{'));
}

/**
 * Writes directly to the log file: a killed supervisor costs no output and no EPIPE. In a process group of
 * its own: Ctrl-C does not reach the service before we stop it in order.
 */
function spawnService({ name, env, logFile, root = ownRoot }: SpawnOptions): ChildProcess {
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
