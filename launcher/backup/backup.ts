import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../platform/thrown.ts';
import { openPostgres, type Sql } from '../../store/db/connect.ts';
import { openDatabase } from '../../store/db/database.ts';
import { writePrivateJson } from '../data-directory/json-file.ts';
import { locatePostgres } from '../provision/postgres/postgres-binaries.ts';
import { choosePostgresUser } from '../provision/postgres/postgres-user.ts';
import { ensureArchiving } from './archive.ts';
import {
  type Backup,
  type BackupDirectory,
  listBackups,
  prepareBackupDirectory,
} from './backup-directory.ts';
import { takeBaseBackup } from './base-backup.ts';
import type { Report } from './progress.ts';
import { type Pruned, pruneBackups } from './prune.ts';
import { recordBackups } from './recorded-backups.ts';
import { tryBackup } from './trial.ts';

export interface BackupOptions {
  /** The address of the embedded Postgres, with the superuser. */
  url: string;
  dataDir: string;
  /** Where to. By default where it archives to already, else `otherwise`. */
  to: string | undefined;
  otherwise: string;
  /** Needed with a restored database: the pepper of API keys, and the superuser's password. */
  secrets: Record<string, string> & { postgresPassword: string };
  keepDays: number;
  /** The control stream (ADR 32). Unset when there is none. */
  control?: ControlLog | undefined;
  report: Report;
  signal?: AbortSignal | undefined;
}

export interface ControlLog {
  readLastSequence(): Promise<number>;
  prune(throughSequence: number): Promise<void>;
}

export interface BackupResult {
  backup: Backup;
  directory: string;
  secretsFile: string;
  pruned: Pruned;
  /** Why the backup could not be verified. */
  failure?: string;
}

/**
 * Backs up the running embedded Postgres: archives its WAL from now on, copies the data directory, verifies
 * the copy by restoring it, and deletes old backups. A copy that cannot be verified is kept, and then nothing
 * is deleted.
 * @throws Error when there is no new backup; those that exist are untouched.
 */
export async function backUp(options: BackupOptions): Promise<BackupResult> {
  const { report, signal, secrets } = options;
  await using sql = openPostgres(options.url, { applicationName: 'weir-backup', statementTimeoutMs: 0 });
  await requireOnlyBackup(sql);
  const { dataDir } = options;
  const path = options.to ?? (await archivedTo(sql)) ?? options.otherwise;
  const user = choosePostgresUser(dataDir, [locatePostgres().postgres, dataDir]);
  const directory = prepareBackupDirectory(path, user.own);
  // Before the copy: what is logged later is not in it.
  const controlSequence = await options.control?.readLastSequence();
  const takeBack = await ensureArchiving(sql, directory.wal);
  const taken = await takeBaseBackup({ sql, dataDir, directory, controlSequence, report, signal }).catch(
    async (error: unknown) => {
      // Otherwise Postgres would keep all WAL for a broken archive, and existing backups would get no more.
      await takeBack();
      throw error;
    },
  );
  const secretsFile = keepSecrets(directory, taken.label, secrets);
  const result = { directory: directory.path, secretsFile };
  const verified = await verify(taken, directory, options).catch((error: unknown) => {
    return messageOf(error);
  });
  if (typeof verified === 'string') {
    await recordBackups(openDatabase(sql), directory);
    return { ...result, backup: taken, pruned: { backups: [], walFiles: 0 }, failure: verified };
  }
  const pruned = pruneBackups(directory, options.keepDays, Date.parse(taken.stoppedAt));
  await recordBackups(openDatabase(sql), directory);
  const oldest = listBackups(directory)[0]?.controlSequence;
  if (oldest !== undefined) await options.control?.prune(oldest);
  return { ...result, backup: verified, pruned };
}

async function verify(
  backup: Backup,
  directory: BackupDirectory,
  { secrets, report, signal }: BackupOptions,
): Promise<Backup> {
  const { postgresPassword: password } = secrets;
  const scratch = directory.path;
  const whole = {
    ...backup,
    verified: await tryBackup({ directory, backup, password, scratch, report, signal }),
  };
  writePrivateJson(join(directory.base(backup.label), 'backup.json'), whole);
  return whole;
}

/** Two at once would delete each other's drafts. The lock ends with the connection. */
async function requireOnlyBackup(sql: Sql): Promise<void> {
  const [row] = await sql<
    { got: boolean }[]
  >`SELECT pg_try_advisory_lock(hashtextextended('weir backup', 0)) AS got`;
  if (row?.got !== true) throw new Error('another `weir backup` runs');
}

async function archivedTo(sql: Sql): Promise<string | undefined> {
  const [row] = await sql<{ wal: string | null }[]>`
    SELECT nullif(current_setting('basic_archive.archive_directory', true), '') AS wal`;
  return row?.wal?.replace(/\/wal$/, '');
}

/** In a directory of their own, so that the rest can be copied elsewhere without them. */
function keepSecrets({ path }: BackupDirectory, label: string, secrets: BackupOptions['secrets']): string {
  mkdirSync(join(path, 'secrets'), { recursive: true, mode: 0o700 });
  const file = join(path, 'secrets', `${label}.json`);
  writePrivateJson(file, secrets);
  return file;
}
