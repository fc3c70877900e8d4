import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readJson } from '../data-directory/json-file.ts';
import type { FileTree } from './file-tree.ts';

/** What `backup.json` says of a backup. Times are those of Postgres, ISO 8601. */
export interface Backup {
  /** Directory below `base`: the time of the start. */
  readonly label: string;
  readonly startedAt: string;
  /** The earliest time to which it can be restored. */
  readonly stoppedAt: string;
  readonly startLsn: string;
  readonly stopLsn: string;
  /** The first and the last segment of WAL without which the backup cannot be restored. */
  readonly startWal: string;
  readonly stopWal: string;
  readonly walSegmentBytes: number;
  /** The system identifier of the Postgres cluster: a backup takes no WAL of another cluster. */
  readonly systemId: string;
  readonly postgres: string;
  readonly weir: string;
  readonly bytes: number;
  /** The last sequence of the control stream at the start (ADR 32): a restore applies what came after. */
  readonly controlSequence?: number | undefined;
  readonly verified?: Verification;
}

/** What was proved by restoring the backup. */
export interface Verification {
  readonly at: string;
  readonly seconds: number;
  /** Pages whose checksums Postgres has checked. */
  readonly pages: number;
}

/** The directory of `weir backup`: backups in `base`, the archive of WAL in `wal`. */
export type BackupDirectory = ReturnType<typeof backupDirectory>;

/** Ends the name of what is not finished: a killed backup leaves nothing that looks whole. */
export const draftSuffix = '.partial';

export function backupDirectory(path: string) {
  return { path, wal: join(path, 'wal'), base: (label: string) => join(path, 'base', label) };
}

/**
 * Makes the directories, and removes what killed backups have left.
 * @param own makes the user of Postgres, who writes to the archive, the owner.
 */
export function prepareBackupDirectory(path: string, own: (path: string) => void): BackupDirectory {
  const directory = backupDirectory(path);
  const isNew = !existsSync(path);
  for (const one of [path, join(path, 'base'), directory.wal])
    mkdirSync(one, { recursive: true, mode: 0o700 });
  for (const one of isNew ? [path, directory.wal] : [directory.wal]) own(one);
  for (const name of readdirSync(join(path, 'base')))
    if (name.endsWith(draftSuffix)) rmSync(join(path, 'base', name), { recursive: true, force: true });
  return directory;
}

export function listBackups({ path, base }: BackupDirectory): Backup[] {
  if (!existsSync(join(path, 'base'))) return [];
  return readdirSync(join(path, 'base'))
    .filter((name) => !name.endsWith(draftSuffix))
    .flatMap((label) => readJson<Backup>(join(base(label), 'backup.json')) ?? [])
    .sort((a, b) => Date.parse(a.stoppedAt) - Date.parse(b.stoppedAt));
}

/** The copied files of a backup. @throws Error when the list is missing. */
export function readFiles({ base }: BackupDirectory, label: string): FileTree {
  const files = readJson<FileTree>(join(base(label), 'files.json'));
  if (files === undefined) throw new Error(`the backup is damaged: ${base(label)} has no files.json`);
  return files;
}
