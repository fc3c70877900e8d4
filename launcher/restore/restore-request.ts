import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Backup, backupDirectory, listBackups } from '../backup/backup-directory.ts';
import { readJson, writePrivateJson } from '../data-directory/json-file.ts';
import type { SupervisorRecord } from '../instance/supervisor-state.ts';
import { readSecrets, type Secrets } from '../local-system.ts';
import { isAlive } from '../process/process-identity.ts';
import { findOpenRestore, type RestoreJournal } from './restore-journal.ts';

/** The file in which `weir backup` keeps where the backups are: Postgres knows it, too, but may be lost. */
const placeFile = 'backup.json';

export function keepBackupPlace(weirDataDir: string, directory: string): void {
  writePrivateJson(join(weirDataDir, placeFile), { directory });
}

export type RestorePlan = ReturnType<typeof planRestore>;

/** @throws Error that says why there is nothing to restore from, or why it would make things worse. */
export function planRestore(
  weirDataDir: string,
  { to, from }: { to: Date | undefined; from: string | undefined },
  nowMs: number,
) {
  const data = resolve(weirDataDir);
  const open = findOpenRestore(join(data, 'restore.json'));
  if (open !== undefined)
    throw new Error(`A restore is under way (${open.journal.step}); \`weir restore --follow\` shows it.`);
  const place =
    from ?? readJson<{ directory: string }>(join(data, placeFile))?.directory ?? join(data, 'backups');
  const directory = backupDirectory(resolve(place));
  const verified = listBackups(directory).filter((backup) => backup.verified !== undefined);
  const [oldest] = verified;
  if (oldest === undefined)
    throw new Error(`There is no verified backup in ${directory.path}: name its directory with --from.`);
  if (to !== undefined && to.getTime() > nowMs) throw new Error(`${to.toISOString()} is in the future.`);
  const backup = verified.findLast(
    ({ stoppedAt }) => to === undefined || Date.parse(stoppedAt) <= to.getTime(),
  );
  if (backup === undefined)
    throw new Error(
      `The oldest backup in ${directory.path} can be restored to ${oldest.stoppedAt} or later.`,
    );
  requireSecrets(directory.path, backup, data);
  const id = new Date(nowMs).toISOString().replaceAll(/[-:.]/g, '');
  return {
    to: to?.toISOString() ?? null,
    directory: directory.path,
    backup: { label: backup.label, stoppedAt: backup.stoppedAt, bytes: backup.bytes, weir: backup.weir },
    dataDir: join(data, 'postgres'),
    aside: join(data, `postgres.before-${id}`),
    /** Whether `weir start` runs there. Otherwise its next start restores. */
    isRunning: isWeirRunning(data),
  };
}

export function isWeirRunning(weirDataDir: string): boolean {
  const record = readJson<SupervisorRecord>(join(weirDataDir, 'supervisor.json'));
  return record !== undefined && isAlive(record);
}

/** Another password would lock the restored Postgres, and another pepper invalidate every API key. */
function requireSecrets(path: string, { label }: Backup, data: string): void {
  const file = join(path, 'secrets', `${label}.json`);
  if (!existsSync(file)) return;
  const [kept, current] = [readJson<Secrets>(file), readSecrets(data)];
  if (kept?.postgresPassword === current?.postgresPassword && kept?.apiKeyPepper === current?.apiKeyPepper)
    return;
  throw new Error(
    `The secrets of ${data} are not those of the backup. To restore on a new machine, copy ${file} to ${join(data, 'secrets.json')} before the first start.`,
  );
}

/** Lets the running `weir start`, or the next one, restore. @returns the file that shows the progress. */
export function requestRestore(weirDataDir: string, { to, directory, backup, aside }: RestorePlan): string {
  const file = join(resolve(weirDataDir), 'restore.json');
  const id = aside.slice(aside.lastIndexOf('.before-') + '.before-'.length);
  const journal: RestoreJournal = { id, to, directory, label: backup.label, step: 'requested' };
  writePrivateJson(file, journal);
  return file;
}
