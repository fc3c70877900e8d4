import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { dayMs } from '../../platform/time.ts';
import { type Backup, type BackupDirectory, draftSuffix, listBackups } from './backup-directory.ts';
import { findUnneeded } from './wal-segments.ts';

export interface Pruned {
  readonly backups: readonly string[];
  readonly walFiles: number;
}

/** Deletes backups older than `keepDays` but never the newest verified one, and WAL that none needs. */
export function pruneBackups(directory: BackupDirectory, keepDays: number, nowMs: number): Pruned {
  const backups = listBackups(directory);
  const isYoung = ({ stoppedAt }: Backup) => Date.parse(stoppedAt) >= nowMs - keepDays * dayMs;
  const lastGood = backups.findLast(({ verified }) => verified !== undefined);
  const oldestKept = backups.find(
    (backup) => backup === lastGood || (isYoung(backup) && lastGood !== undefined),
  );
  if (oldestKept === undefined) return { backups: [], walFiles: 0 };
  const dropped = backups.slice(0, backups.indexOf(oldestKept));
  for (const { label } of dropped) {
    // Renamed first: a deletion that is killed leaves nothing that looks whole.
    const draft = `${directory.base(label)}${draftSuffix}`;
    renameSync(directory.base(label), draft);
    rmSync(draft, { recursive: true, force: true });
  }
  const unneeded = findUnneeded(directory.wal, oldestKept.startWal);
  for (const file of unneeded) rmSync(join(directory.wal, file), { force: true });
  return { backups: dropped.map(({ label }) => label), walFiles: unneeded.length };
}
