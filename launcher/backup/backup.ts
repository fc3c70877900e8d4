import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openPostgres, type Sql } from '../../lib/db/connect.ts';
import { openDatabase } from '../../lib/db/database.ts';
import { writePrivateJson } from '../data-directory/json-file.ts';
import { locatePostgres } from '../provision/postgres/postgres-binaries.ts';
import { choosePostgresUser } from '../provision/postgres/postgres-user.ts';
import { ensureArchiving } from './archive.ts';
import { type Backup, type BackupDirectory, prepareBackupDirectory } from './backup-directory.ts';
import { takeBaseBackup } from './base-backup.ts';
import type { Report } from './progress.ts';
import { type Pruned, pruneBackups } from './prune.ts';
import { recordBackups } from './recorded-backups.ts';
import { tryBackup } from './trial.ts';

export interface BackupOptions {
  /** Of the embedded Postgres, with the superuser. */
  url: string;
  /** Its data directory. */
  dataDir: string;
  /** Where to. By default where it archives to already, else `otherwise`. */
  to: string | undefined;
  otherwise: string;
  /** The secrets without which a restored database is of no use: the pepper of API keys, and the password of the superuser. */
  secrets: Record<string, string> & { postgresPassword: string };
  keepDays: number;
  report: Report;
  signal?: AbortSignal | undefined;
}

export interface BackupResult {
  backup: Backup;
  directory: string;
  /** The file with the secrets. */
  secretsFile: string;
  pruned: Pruned;
  /** Why the backup could not be verified. */
  failure?: string;
}

/**
 * Backs up the embedded Postgres while it runs: archives its WAL from now on, copies the data directory, verifies the copy by restoring it,
 * and deletes old backups. A backup that cannot be verified is kept; nothing is deleted then.
 *
 * @throws Error when there is no new backup; those that exist are untouched.
 */
export async function backUp(options: BackupOptions): Promise<BackupResult> {
  const { report, signal, secrets } = options;
  await using sql = openPostgres(options.url, {
    applicationName: 'weir-backup',
    connectionsMax: 1,
    statementTimeoutMs: 0,
  });
  await requireOnlyBackup(sql);
  const directory = prepareBackupDirectory(options.to ?? (await archivedTo(sql)) ?? options.otherwise);
  const user = choosePostgresUser(options.dataDir, [locatePostgres().postgres, options.dataDir]);
  user.own(directory.wal);
  await ensureArchiving(sql, directory.wal);
  const taken = await takeBaseBackup({ sql, dataDir: options.dataDir, directory, report, signal });
  const secretsFile = keepSecrets(directory, taken.label, secrets);
  const result = { directory: directory.path, secretsFile };
  try {
    const { postgresPassword: password } = secrets;
    const scratch = directory.path;
    const verified = await tryBackup({ directory, backup: taken, password, scratch, report, signal });
    const backup = { ...taken, verified };
    writePrivateJson(join(directory.base(taken.label), 'backup.json'), backup);
    const pruned = pruneBackups(directory, options.keepDays, Date.parse(backup.stoppedAt));
    return { ...result, backup, pruned };
  } catch (error) {
    const failure = error instanceof Error ? error.message : String(error);
    return { ...result, backup: taken, pruned: { backups: [], walFiles: 0 }, failure };
  } finally {
    await recordBackups(openDatabase(sql), directory);
  }
}

/** Two at once would delete each other's drafts. The lock ends with the connection. */
async function requireOnlyBackup(sql: Sql): Promise<void> {
  const [row] = await sql<
    { got: boolean }[]
  >`SELECT pg_try_advisory_lock(hashtextextended('weir backup', 0)) AS got`;
  if (row?.got !== true) throw new Error('another `weir backup` runs');
}

/** The directory of the last backups. */
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
