import { existsSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { backupDirectory, listBackups } from '../backup/backup-directory.ts';
import { syncDirectory } from '../backup/copied-file.ts';
import { copyBackup, type RecoveryOptions, recover } from './recovery.ts';
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
