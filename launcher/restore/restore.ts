import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import {
  type Backup,
  type BackupDirectory,
  backupDirectory,
  listBackups,
  readFiles,
} from '../backup/backup-directory.ts';
import { requireSpace } from '../backup/base-backup.ts';
import { syncDirectory } from '../backup/copied-file.ts';
import { restoreTree } from '../backup/file-tree.ts';
import { openProgress, type Report } from '../backup/progress.ts';
import { restoreCommand } from '../backup/restore-command.ts';
import type { ServerProcess } from '../process/server-process.ts';
import { startOnFreePorts } from '../provision/ports.ts';
import { startPostgres } from '../provision/postgres/postgres.ts';
import { locatePostgres } from '../provision/postgres/postgres-binaries.ts';
import { choosePostgresUser } from '../provision/postgres/postgres-user.ts';
import type { RestoreRecord } from './restore-journal.ts';

export interface RestoreSystem {
  /** The data directory of Postgres; it may be missing. */
  dataDir: string;
  /** The password of the superuser. */
  password: string;
  logFile: string;
  onSpawn?: RecoveryOptions['onSpawn'];
  /** Stops Postgres and everything that uses it except ingest. May be called again. */
  stopServices(): Promise<void>;
  /**
   * Brings a recovered database up to now, before anything is served: schema, changes since, redelivery.
   * @param url of the superuser.
   */
  catchUp(
    url: string,
    restored: { to: Date; from: RecoveryOptions['backup'] },
  ): Promise<{ readonly lost: readonly string[] }>;
  report(line: string): void;
}

/**
 * Restores Postgres from the step that the journal has reached. The last step replaces the old data
 * directory, which is kept aside. Then the caller starts everything, and ends the journal.
 * @throws Error when a step fails. The old data directory is where it was.
 */
export async function restorePostgres(record: RestoreRecord, system: RestoreSystem): Promise<void> {
  const { dataDir } = system;
  const { directory: path, label, to, id } = record.journal;
  const directory = backupDirectory(path);
  const backup = listBackups(directory).find((one) => one.label === label);
  if (backup === undefined) throw new Error(`${path} has no backup ${label}`);
  const report = (line: string) => {
    system.report(line);
    record.change({ progress: line });
  };
  const fresh = copyOf(dataDir);
  const options: RecoveryOptions = {
    directory,
    backup,
    dataDir: fresh,
    oldDataDir: dataDir,
    to: to === null ? undefined : new Date(to),
    password: system.password,
    logFile: system.logFile,
    onSpawn: system.onSpawn,
    report,
  };
  if (record.journal.step === 'requested') {
    report(`copying the backup ${label}`);
    await copyBackup(options);
    record.change({ step: 'copied' });
  }
  report('stopping the writer, the dashboard and Postgres');
  await system.stopServices();
  if (record.journal.step === 'copied') {
    await using recovered = await recover(options);
    const { restoredTo } = recovered;
    report(`recovered to ${restoredTo.toISOString()}`);
    const caughtUp = await system.catchUp(recovered.url, { to: restoredTo, from: backup });
    record.change({ restoredTo: restoredTo.toISOString(), caughtUp });
  }
  if (record.journal.step === 'copied') record.change({ step: 'recovered' });
  if (record.journal.step === 'recovered') {
    const aside = asideOf(dataDir, id);
    // Killed between the two, the restore finds the first one done.
    if (existsSync(fresh) && existsSync(dataDir)) renameSync(dataDir, aside);
    if (existsSync(fresh)) renameSync(fresh, dataDir);
    await syncDirectory(dirname(dataDir));
    record.change({ step: 'swapped', ...(existsSync(aside) && { aside }) });
  }
}

const copyOf = (dataDir: string) => `${dataDir}.restored`;

const asideOf = (dataDir: string, id: string) => `${dataDir}.before-${id}`;

/** Deletes a failed restore's copy, as large as the database, and puts the old directory back. */
export function discardCopy({ journal }: RestoreRecord, { dataDir }: Pick<RestoreSystem, 'dataDir'>): void {
  if (journal.step === 'swapped') return;
  const aside = asideOf(dataDir, journal.id);
  if (existsSync(aside)) {
    if (existsSync(dataDir)) renameSync(dataDir, copyOf(dataDir));
    renameSync(aside, dataDir);
  }
  rmSync(copyOf(dataDir), { recursive: true, force: true });
}

interface RecoveryOptions {
  directory: BackupDirectory;
  backup: Backup;
  dataDir: string;
  /** The data directory in use, whose WAL may be newer than the archive. May be missing. */
  oldDataDir: string;
  /** Undefined: the end of the archive. */
  to: Date | undefined;
  password: string;
  logFile: string;
  onSpawn?: ((pid: number) => void) | undefined;
  report: Report;
}

/** Copies the backup to the new data directory, compares its files, and prepares its recovery. */
async function copyBackup({ directory, backup, dataDir, report }: RecoveryOptions): Promise<void> {
  rmSync(dataDir, { recursive: true, force: true });
  requireSpace(join(dataDir, '..'), backup.bytes);
  const user = choosePostgresUser(dataDir, [locatePostgres().postgres, dataDir]);
  await restoreTree(readFiles(directory, backup.label), {
    from: directory.base(backup.label),
    to: dataDir,
    own: user.own,
    isSynced: true,
    onCopied: openProgress('copied', backup.bytes, report),
  });
  // The backups may have been moved since.
  const wal = directory.wal.replaceAll("'", "''");
  const archive = `basic_archive.archive_directory = '${wal}'\n`;
  appendFileSync(join(dataDir, 'postgresql.auto.conf'), archive, { flush: true });
  writeFileSync(join(dataDir, 'recovery.signal'), '', { flush: true });
  user.own(join(dataDir, 'recovery.signal'));
  await syncDirectory(dataDir);
}

/**
 * Starts a Postgres on the copy, which recovers from the archive to the given time or the archive's end. The
 * old data directory must not be in use. Nothing is archived before the copy has taken its place: a second
 * history in the archive would mislead the next restore.
 */
async function recover(options: RecoveryOptions) {
  const { to, dataDir, directory, logFile, report } = options;
  const timeline = to === undefined ? 'latest' : timelineAt(directory, to);
  const target = to && {
    recovery_target_time: to.toISOString().replace('T', ' ').replace('Z', '+00'),
    recovery_target_inclusive: 'on',
  };
  const isRecovered = !existsSync(join(dataDir, 'recovery.signal'));
  if (!isRecovered) rmSync(logFile, { force: true });
  report('recovering from the archive');
  const server = await start(options, { recovery_target_timeline: timeline, ...target }).catch(
    (error: unknown) => {
      if (!readFileSync(logFile, 'utf8').includes(endedBefore)) throw error;
      report('the archive ends before that time: recovering to its end');
      return start(options, { recovery_target_timeline: timeline });
    },
  );
  return {
    url: server.url,
    /** The time of the last change that it has. */
    restoredTo: readRestoredTo(options),
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

const endedBefore = 'recovery ended before configured recovery target was reached';

function start(
  { dataDir, oldDataDir, directory, password, logFile, onSpawn }: RecoveryOptions,
  target: Record<string, string>,
): Promise<ServerProcess> {
  return startOnFreePorts(1, ([port = 0]) =>
    startPostgres({
      dataDir,
      port,
      password,
      logFile,
      ...(onSpawn && { onSpawn }),
      settings: {
        restore_command: restoreCommand([directory.wal, join(oldDataDir, 'pg_wal')]),
        recovery_target_action: 'promote',
        hot_standby: 'off',
        archive_library: '',
        archive_command: 'false',
        ...target,
      },
    }),
  );
}

/** The timeline in use at a time: Postgres would follow that of a later restore in the archive. */
function timelineAt({ wal }: BackupDirectory, at: Date): string {
  const begun = readdirSync(wal)
    .filter((name) => /^[0-9A-F]{8}\.history$/.test(name) && statSync(join(wal, name)).mtime <= at)
    .map((name) => Number.parseInt(name.slice(0, 8), 16));
  return begun.length === 0 ? 'current' : String(Math.max(...begun));
}

/** Reads the log, which a continued restore has, too. Its later entries are of later crash recoveries. */
function readRestoredTo({ logFile, backup }: Pick<RecoveryOptions, 'logFile' | 'backup'>): Date {
  const logged = /last completed transaction was at log time (\S+) (\S+?)\+00/.exec(
    readFileSync(logFile, 'utf8'),
  );
  // No change after the backup.
  return new Date(logged === null ? backup.stoppedAt : `${logged[1]}T${logged[2]}Z`);
}
