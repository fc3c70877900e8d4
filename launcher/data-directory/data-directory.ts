import { randomBytes } from 'node:crypto';
import { mkdirSync, statfsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { ConfigError } from '../../platform/config/config-error.ts';
import { codeOf } from '../../platform/thrown.ts';
import type { Secrets } from '../local-system.ts';
import { createPrivateJson, readJson, writePrivateJson } from './json-file.ts';

/** Increased when files in the data directory change in a way that an older Weir cannot read. */
const layoutVersion = 1;

/** With less, Postgres has no room for its WAL, and a full disk stops the queue until it is restarted. */
const freeBytesMin = 500 * 1024 ** 2;

/** JetStream's share of the free space, below what the disk holds: Postgres needs the rest. */
const natsShareOfFree = 0.7;
const natsFileBytesCap = 10 * 1024 ** 3;

interface Layout {
  version: number;
  /** The last limit given to nats-server, which does not open a stream created under a higher one. */
  natsFileBytesMax: number;
}

export interface DataDirectory {
  path: string;
  secrets: Secrets;
  /** The limit of JetStream's files. It never shrinks for an existing data directory. */
  natsFileBytesMax: number;
  postgres: string;
  nats: string;
  file(name: 'connection.json' | 'first-run.json' | 'supervisor.json' | 'restore.json'): string;
  logFile(name: string): string;
}

/**
 * Opens the data directory, or creates it with access for its owner only.
 * @throws ConfigError when a newer Weir wrote it, when it is read-only, or when the disk is full.
 */
export function openDataDirectory(
  dataDir: string,
  freeBytes: (path: string) => number = readFreeBytes,
): DataDirectory {
  const path = resolve(dataDir);
  return explainDiskErrors(path, () => {
    makeDirectory(join(path, 'logs'));
    const layout = readJson<Layout>(join(path, 'layout.json'));
    rejectNewer(path, layout);
    const free = freeBytes(path);
    rejectFull(path, free);
    const natsFileBytesMax = Math.max(
      layout?.natsFileBytesMax ?? 0,
      Math.floor(Math.min(free * natsShareOfFree, natsFileBytesCap)),
    );
    writePrivateJson(join(path, 'layout.json'), { version: layoutVersion, natsFileBytesMax });
    return {
      path,
      secrets: keepSecrets(join(path, 'secrets.json')),
      natsFileBytesMax,
      postgres: join(path, 'postgres'),
      nats: join(path, 'nats'),
      file: (name) => join(path, name),
      logFile: (name) => join(path, 'logs', `${name}.log`),
    };
  });
}

/** `mkdirSync` with `recursive` fails with ENOENT on a read-only disk, and never returns below /proc. */
function makeDirectory(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  makeDirectory(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // A concurrent start may have created it.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

function keepSecrets(file: string): Secrets {
  // Hexadecimal, because they are put into URLs.
  const secret = () => randomBytes(24).toString('hex');
  const made: Secrets = { apiKeyPepper: secret(), postgresPassword: secret(), natsPassword: secret() };
  const kept = readJson<Secrets>(file);
  if (kept !== undefined) return kept;
  // Of two concurrent first starts, both use the secrets of the first.
  return createPrivateJson(file, made) ? made : (readJson<Secrets>(file) ?? made);
}

function rejectNewer(path: string, layout: Layout | undefined): void {
  if (layout === undefined || layout.version <= layoutVersion) return;
  throw new ConfigError(
    `${path} was written by a newer version of Weir (layout ${layout.version}; this version supports ${layoutVersion}). Start that version, or set WEIR_DATA_DIR to another directory.`,
  );
}

function rejectFull(path: string, free: number): void {
  if (free >= freeBytesMin) return;
  throw new ConfigError(
    `The disk of ${path} is full: ${megabytes(free)} MB are free, and Weir needs ${megabytes(freeBytesMin)}. Free some space, or set WEIR_DATA_DIR to a directory on another disk.`,
  );
}

function explainDiskErrors<T>(path: string, open: () => T): T {
  const advice: Record<string, string> = {
    EROFS: 'is on a read-only disk',
    EACCES: 'is not writable for this user',
    EPERM: 'is not writable for this user',
    ENOSPC: 'is on a full disk',
    EDQUOT: 'is over the disk quota',
    ENOTDIR: 'is not a directory',
    ENOENT: 'cannot be created',
    EEXIST: 'is not a directory',
  };
  try {
    return open();
  } catch (error) {
    const what = advice[codeOf(error) ?? ''];
    if (what === undefined) throw error;
    throw new ConfigError(
      `The data directory ${path} ${what} (${(error as Error).message}). Set WEIR_DATA_DIR to a directory that Weir can write to.`,
    );
  }
}

function readFreeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

function megabytes(bytes: number): number {
  return Math.floor(bytes / 1024 ** 2);
}
