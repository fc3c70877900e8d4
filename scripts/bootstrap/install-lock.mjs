import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A lock of this age was left behind: no installation takes so long. */
const lockAgeMaxMs = 15 * 60_000;

/** Between making the lock and writing its owner into it a process needs no longer than this. */
const ownerlessAgeMaxMs = 5_000;

const pollMs = 200;

/**
 * Waits until no other process installs into the same checkout, and holds that off. It lies beside node_modules, which
 * an installation removes first.
 *
 * @param {string} directory the lock
 * @returns {Promise<() => void>} releases it
 */
export async function holdInstallLock(directory) {
  let told = false;
  for (;;) {
    try {
      mkdirSync(directory);
      writeFileSync(join(directory, 'pid'), String(process.pid));
      return holdUntilReleased(directory);
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
    }
    if (isLeftBehind(directory)) {
      rmSync(directory, { recursive: true, force: true });
      continue;
    }
    if (!told) process.stderr.write('weir: waiting for another installation in this checkout …\n');
    told = true;
    await sleep(pollMs);
  }
}

/** @param {string} directory */
function holdUntilReleased(directory) {
  const release = () => rmSync(directory, { recursive: true, force: true });
  const stop = (/** @type {NodeJS.Signals} */ signal) => {
    release();
    process.removeListener(signal, stop);
    process.kill(process.pid, signal);
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  return () => {
    process.removeListener('SIGINT', stop).removeListener('SIGTERM', stop);
    release();
  };
}

/** @param {string} directory */
function isLeftBehind(directory) {
  try {
    const ageMs = Date.now() - statSync(directory).mtimeMs;
    if (ageMs > lockAgeMaxMs) return true;
    const pid = readOwner(directory);
    return pid === undefined ? ageMs > ownerlessAgeMaxMs : !isAlive(pid);
  } catch {
    // It has been released in between.
    return false;
  }
}

/** @param {string} directory */
function readOwner(directory) {
  try {
    return Number(readFileSync(join(directory, 'pid'), 'utf8')) || undefined;
  } catch {
    return undefined;
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM';
  }
}
