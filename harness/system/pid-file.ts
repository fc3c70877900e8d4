import { globSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { kill } from 'node:process';
import { readJson, writePrivateJson } from '../../launcher/data-directory/json-file.ts';
import { identifyProcess, isAlive, type ProcessIdentity } from '../../launcher/process/process-identity.ts';

/** Records a process, so that `killLeaks` can kill it when its owner did not. */
export function writePidFile(file: string, pid: number): void {
  try {
    writePrivateJson(file, identifyProcess(pid));
  } catch {
    // It has exited already.
  }
}

/**
 * Kills the recorded processes that still run. Processes that have exited are ignored, also when their pid
 * was reused, and so are files of these names that record no process.
 *
 * @param directory is searched, with its subdirectories, for `pid` and `pid-*`.
 * @returns the files of the processes that were killed.
 */
export function killLeaks(directory: string): string[] {
  return globSync(join(directory, '**', '{pid,pid-*}')).filter((file) => {
    const recorded = readJson<Partial<ProcessIdentity>>(file);
    if (!isIdentified(recorded) || !isAlive(recorded)) return false;
    kill(recorded.pid, 'SIGKILL');
    rmSync(file, { force: true });
    return true;
  });
}

function isIdentified(recorded: Partial<ProcessIdentity> | undefined): recorded is ProcessIdentity {
  return typeof recorded?.pid === 'number' && typeof recorded.identity === 'string';
}
