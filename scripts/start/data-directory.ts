import { randomBytes } from 'node:crypto';
import { mkdirSync, statfsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { ConfigError } from '../../lib/config.ts';
import type { Secrets } from '../../lib/connection.ts';
import { createPrivateJson, readJson, writePrivateJson } from './json-file.ts';

/** Raised when the files in a data directory change so that an older Weir would not understand them. */
const layoutVersion = 1;

/** Below this Postgres has no room for its WAL, and a full disk stops the queue until it restarts. */
const freeBytesMin = 500 * 1024 ** 2;

/** JetStream's share: what is left is Postgres's, and the disk must never be full before the stream is. */
const natsShareOfFree = 0.7;
const natsFileBytesCap = 10 * 1024 ** 3;

interface Layout {
  version: number;
  /** What nats-server was given last. It refuses to open a stream that was made under a higher limit. */
  natsFileBytesMax: number;
}

/** Everything that `npm start` keeps on disk. */
export interface DataDirectory {
  path: string;
  secrets: Secrets;
  /** The limit of JetStream's files; it never shrinks in the life of a data directory. */
  natsFileBytesMax: number;
  postgres: string;
  nats: string;
  /** The path of a file in it. */
  file(name: 'connection.json' | 'first-run.json' | 'supervisor.json'): string;
  logFile(name: string): string;
}

/**
 * Opens the data directory, or makes it: readable to nobody else.
 *
 * @throws ConfigError when it was written by a newer Weir, is read-only, or the disk is full.
 */
export function openDataDirectory(
  dataDir: string,
  freeBytes: (path: string) => number = readFreeBytes,
): DataDirectory {
  const path = resolve(dataDir);
  return explainDiskErrors(path, () => {
    makeDirectory(join(path, 'logs'));
    const layout = readJson<Layout>(join(path, 'layout.json'));
    refuseNewer(path, layout);
    const free = freeBytes(path);
    refuseFull(path, free);
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

/** Node's own way of making the parents says ENOENT on a read-only disk, and never returns below /proc. */
function makeDirectory(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  makeDirectory(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another start may have made it in this moment.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

function keepSecrets(file: string): Secrets {
  // Hexadecimal: they become parts of URLs.
  const secret = () => randomBytes(24).toString('hex');
  const made: Secrets = { apiKeyPepper: secret(), postgresPassword: secret(), natsPassword: secret() };
  const kept = readJson<Secrets>(file);
  if (kept !== undefined) return kept;
  // Of two first starts at once, both go on with the secrets of the first one.
  return createPrivateJson(file, made) ? made : (readJson<Secrets>(file) ?? made);
}

function refuseNewer(path: string, layout: Layout | undefined): void {
  if (layout === undefined || layout.version <= layoutVersion) return;
  throw new ConfigError(
    `${path} was written by a newer version of Weir (layout ${layout.version}; this one knows ${layoutVersion}). Start that version, or set WEIR_DATA_DIR to another directory.`,
  );
}

function refuseFull(path: string, free: number): void {
  if (free >= freeBytesMin) return;
  throw new ConfigError(
    `The disk of ${path} is full: ${megabytes(free)} MB are free, and Weir needs ${megabytes(freeBytesMin)}. Make room, or set WEIR_DATA_DIR to a directory on another disk.`,
  );
}

function explainDiskErrors<T>(path: string, open: () => T): T {
  const advice: Record<string, string> = {
    EROFS: 'is on a read-only disk',
    EACCES: 'is not writable to you',
    EPERM: 'is not writable to you',
    ENOSPC: 'is on a full disk',
    EDQUOT: 'is over your disk quota',
    ENOTDIR: 'is not a directory',
    ENOENT: 'cannot be made',
    EEXIST: 'is not a directory',
  };
  try {
    return open();
  } catch (error) {
    const what = advice[(error as NodeJS.ErrnoException).code ?? ''];
    if (what === undefined) throw error;
    throw new ConfigError(
      `The data directory ${path} ${what} (${(error as Error).message}). Set WEIR_DATA_DIR to a directory that Weir may write to.`,
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
