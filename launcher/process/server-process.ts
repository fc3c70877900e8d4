import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { exitOf, type SpawnedProcess, type StopSignals, stopProcess } from './child-process.ts';

/** A server that accepts connections. Disposing stops it. */
export interface ServerProcess extends SpawnedProcess, AsyncDisposable {
  readonly url: string;
  readonly port: number;
}

export interface StartHooks {
  onSpawn?: (pid: number) => void;
  /** Aborts the start, and stops the server. */
  signal?: AbortSignal;
}

/** Another process took the port between the check that it was free and the server's bind. */
export class PortTakenError extends Error {
  override name = 'PortTakenError';
}

/**
 * Spawns a server that writes to a log file, in a process group of its own: Ctrl-C in a terminal reaches only
 * the supervisor, which stops the servers in order. @throws the system's error when the command cannot be
 * executed.
 */
export async function spawnServer(
  command: readonly [string, ...string[]],
  options: {
    logFile: string;
    stopSignals: StopSignals;
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

/** @returns false when the server exits first, the time is over, or the start is aborted. */
export async function pollUntilUp(
  { exited, signal }: Pick<SpawnedProcess, 'exited'> & { signal: AbortSignal | undefined },
  { isUp, timeoutMs, pollMs }: { isUp: () => Promise<boolean>; timeoutMs: number; pollMs: number },
): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  let hasExited = false;
  exited.then(() => {
    hasExited = true;
  });
  while (!hasExited && !signal?.aborted && Date.now() < deadline) {
    if (await isUp()) return true;
    await sleep(pollMs);
  }
  return false;
}

function spawned(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('spawn', () => resolve(child.pid ?? 0));
    child.once('error', reject);
  });
}
