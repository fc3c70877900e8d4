import { getuid } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { runProgram } from '../../../launcher/process/run-program.ts';
import { messageOf } from '../../../platform/thrown.ts';

/** Creating and checking a file system of 512 MB takes less than a second. */
const programTimeoutMs = 60_000;

/** A killed process closes its files with a short delay. */
const unmountTries = 100;
const unmountPauseMs = 100;

/** Runs a program. @throws Error with the reason when it fails. */
export async function run(file: string, args: readonly string[]): Promise<void> {
  await runProgram(file, args, { timeoutMs: programTimeoutMs });
}

/** Mounts a file system. Disposing it unmounts it, after waiting until no file on it is open. */
export async function mountOn(directory: string, options: readonly string[]): Promise<AsyncDisposable> {
  await run('mount', [...options, directory]);
  return { [Symbol.asyncDispose]: () => unmount(directory) };
}

/**
 * Why this machine does not support a mount; undefined when it does.
 *
 * @param tryMount mounts and unmounts.
 */
export async function checkMount(what: string, tryMount: () => Promise<void>): Promise<string | undefined> {
  if (getuid?.() !== 0) return `mounting ${what} requires root`;
  try {
    await tryMount();
    return undefined;
  } catch (error) {
    return `${what} cannot be mounted: ${messageOf(error)}`;
  }
}

async function unmount(directory: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await run('umount', [directory]);
    } catch (error) {
      if (tries === unmountTries) throw error;
      await sleep(unmountPauseMs);
    }
  }
}
