import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** An older lock is stale: no installation takes this long. */
const lockAgeMaxMs = 15 * 60_000;

/** A lock without a pid is stale after this time: the pid is written right after the directory is made. */
const ownerlessAgeMaxMs = 5_000;

const pollMs = 200;

/**
 * Waits until no other process installs into the same checkout, and takes the lock: a directory beside
 * node_modules, which an installation removes.
 * @param {string} directory the lock
 * @returns {Promise<() => void>} releases the lock
 */
export async function acquireInstallLock(directory) {
  let isReported = false;
  for (;;) {
    try {
      mkdirSync(directory);
      writeFileSync(join(directory, 'pid'), String(process.pid));
      return releaseOnSignal(directory);
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
    }
    if (isStale(directory)) {
      rmSync(directory, { recursive: true, force: true });
      continue;
    }
    if (!isReported) process.stderr.write('weir: waiting for another installation in this checkout …\n');
    isReported = true;
    await sleep(pollMs);
  }
}

/**
 * @param {string} directory
 * @returns {() => void} releases the lock
 */
function releaseOnSignal(directory) {
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
function isStale(directory) {
  try {
    const ageMs = Date.now() - statSync(directory).mtimeMs;
    if (ageMs > lockAgeMaxMs) return true;
    const pid = readOwner(directory);
    return pid === undefined ? ageMs > ownerlessAgeMaxMs : !isAlive(pid);
  } catch {
    // Released in the meantime.
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
