import { getuid } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { runProgram } from '../provision/run-program.ts';

/** Creating and checking file systems of half a gigabyte takes less than a second. */
const programTimeoutMs = 60_000;

/** A killed process closes its files a moment later. */
const unmountTries = 100;
const unmountPauseMs = 100;

/** Runs a program for its effect. @throws Error that says why it failed. */
export async function run(file: string, args: readonly string[]): Promise<void> {
  await runProgram(file, args, { timeoutMs: programTimeoutMs });
}

/** Mounts a file system; disposing it unmounts it, and waits for those who still have files open. */
export async function mountOn(directory: string, options: readonly string[]): Promise<AsyncDisposable> {
  await run('mount', [...options, directory]);
  return { [Symbol.asyncDispose]: () => unmount(directory) };
}

/**
 * Why this machine cannot have something mounted; undefined when it can.
 *
 * @param tryIt mounts, and unmounts.
 */
export async function findMountObstacle(
  what: string,
  tryIt: () => Promise<void>,
): Promise<string | undefined> {
  if (getuid?.() !== 0) return `mounting ${what} takes root`;
  try {
    await tryIt();
    return undefined;
  } catch (error) {
    return `${what} cannot be mounted: ${error instanceof Error ? error.message : String(error)}`;
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
