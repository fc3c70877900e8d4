import { randomUUID } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { codeOf } from '../../platform/thrown.ts';

/** Writes mode 0600, atomically and fsynced: a power failure leaves the old or the new content. */
export function writePrivateJson(path: string, value: unknown): void {
  renameSync(writeDraft(path, value), path);
}

/** Writes as `writePrivateJson`, for one of several callers. @returns false when the file exists. */
export function createPrivateJson(path: string, value: unknown): boolean {
  const draft = writeDraft(path, value);
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    return false;
  } finally {
    rmSync(draft, { force: true });
  }
}

function writeDraft(path: string, value: unknown): string {
  const draft = `${path}.${randomUUID()}`;
  const descriptor = openSync(draft, 'wx', 0o600);
  try {
    writeSync(descriptor, `${JSON.stringify(value, null, 2)}\n`);
    fsyncSync(descriptor);
    return draft;
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

export function readJson<T>(path: string): T | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as T;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw new Error(`${path} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}
