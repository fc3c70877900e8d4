import { renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { version } from '../../platform/version.ts';
import type { Sql } from '../../store/db/connect.ts';
import { writePrivateJson } from '../data-directory/json-file.ts';
import { untilArchived } from './archive.ts';
import { type Backup, type BackupDirectory, draftSuffix } from './backup-directory.ts';
import { copyFile, syncDirectory } from './copied-file.ts';
import { copyTree, listTree } from './file-tree.ts';
import { openProgress, type Report } from './progress.ts';
import { segmentsBetween } from './wal-segments.ts';

/** Free space that a copy leaves: with less, nats-server and Postgres on the same disk would stop. */
const freeBytesLeft = 500 * 1024 ** 2;

export interface BaseBackupOptions {
  /** A superuser's connection without a statement timeout: a backup belongs to the session that began it. */
  sql: Sql;
  dataDir: string;
  directory: BackupDirectory;
  controlSequence?: number | undefined;
  report: Report;
  signal?: AbortSignal | undefined;
}

/**
 * Copies the data directory of a running Postgres, and waits until the WAL that the copy needs is archived.
 * The backup gets its name when all of it is on disk.
 * @throws Error when the disk lacks space, or Postgres does not archive. Nothing is left then.
 */
export async function takeBaseBackup(options: BaseBackupOptions): Promise<Backup> {
  const { sql, directory } = options;
  const label = await readLabel(sql);
  const draft = `${directory.base(label)}${draftSuffix}`;
  try {
    const backup = await copyInto(draft, label, options);
    renameSync(draft, directory.base(label));
    await syncDirectory(join(directory.path, 'base'));
    return backup;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

async function copyInto(
  draft: string,
  label: string,
  { sql, dataDir, directory, controlSequence, report, signal }: BaseBackupOptions,
): Promise<Backup> {
  const sized = await listTree(dataDir, isLeftOut);
  requireSpace(directory.path, sized.bytes);
  const server = await readServer(sql);
  const [start] = await sql<{ lsn: string; wal: string; at: Date }[]>`
    SELECT lsn::text, pg_walfile_name(lsn) AS wal, clock_timestamp() AS at FROM pg_backup_start(${label}, fast => true) AS lsn`;
  if (start === undefined) throw new Error('SELECT returned no row');
  // After the start: files that are made from now on are in the WAL.
  const tree = await listTree(dataDir, isLeftOut);
  const progress = openProgress('copied', tree.bytes, report);
  const onCopied = (bytes: number) => {
    signal?.throwIfAborted();
    progress(bytes);
  };
  const files = await copyTree(tree, { from: dataDir, to: draft, onCopied });
  const [stop] = await sql<{ lsn: string; wal: string; label: string; at: Date }[]>`
    SELECT lsn::text, pg_walfile_name(lsn) AS wal, labelfile AS label, clock_timestamp() AS at
    FROM pg_backup_stop(wait_for_archive => false)`;
  if (stop === undefined) throw new Error('SELECT returned no row');
  const labelFile = join(draft, 'backup_label');
  writeFileSync(`${labelFile}.new`, stop.label);
  const copied = await copyFile(`${labelFile}.new`, labelFile, true);
  rmSync(`${labelFile}.new`);
  const segments = segmentsBetween(start.wal, stop.wal, server.walSegmentBytes);
  report('waiting until Postgres has archived the WAL of the copy');
  await untilArchived(sql, directory.wal, { segments, segmentBytes: server.walSegmentBytes });
  const whole = { ...files, files: [...files.files, { path: 'backup_label', ...copied }] };
  writePrivateJson(join(draft, 'files.json'), whole);
  const backup: Backup = {
    label,
    startedAt: start.at.toISOString(),
    stoppedAt: stop.at.toISOString(),
    startLsn: start.lsn,
    stopLsn: stop.lsn,
    startWal: start.wal,
    stopWal: stop.wal,
    ...server,
    weir: version,
    ...(controlSequence !== undefined && { controlSequence }),
    bytes: whole.files.reduce((sum, { bytes }) => sum + bytes, 0),
  };
  writePrivateJson(join(draft, 'backup.json'), backup);
  await syncDirectory(draft);
  return backup;
}

export function requireSpace(path: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(path);
  const free = bavail * bsize;
  if (free - bytes >= freeBytesLeft) return;
  const megabytes = (count: number) => `${Math.ceil(count / 1024 ** 2)} MB`;
  throw new Error(
    `the disk of ${path} has ${megabytes(free)} free, and ${megabytes(bytes + freeBytesLeft)} are needed: free some space, or use another disk`,
  );
}

async function readLabel(sql: Sql): Promise<string> {
  const [row] = await sql<{ label: string }[]>`
    SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYYMMDD"T"HH24MISSMS"Z"') AS label`;
  if (row === undefined) throw new Error('SELECT returned no row');
  return row.label;
}

async function readServer(sql: Sql): Promise<Pick<Backup, 'systemId' | 'postgres' | 'walSegmentBytes'>> {
  const [row] = await sql<{ systemId: string; postgres: string; walSegmentBytes: number }[]>`
    SELECT system_identifier::text AS "systemId", current_setting('server_version') AS postgres,
      pg_size_bytes(current_setting('wal_segment_size'))::int AS "walSegmentBytes" FROM pg_control_system()`;
  if (row === undefined) throw new Error('SELECT returned no row');
  return { ...row };
}

/** Directories that a backup has without content, which Postgres creates again when it starts. */
const emptied = [
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
];
const files = [
  'postmaster.pid',
  'postmaster.opts',
  'backup_label',
  'backup_label.old',
  'tablespace_map',
  'backup_manifest',
];

/** Whether a copy of a running data directory omits a file (Postgres, "Backing Up The Data Directory"). */
function isLeftOut(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return (
    emptied.some((directory) => path.startsWith(`${directory}/`)) ||
    files.includes(path) ||
    name.startsWith('pgsql_tmp') ||
    name.startsWith('pg_internal.init') ||
    name.startsWith('postgresql.auto.conf.tmp')
  );
}
