import { and, eq, notInArray } from 'drizzle-orm';
import { pick } from '../../platform/pick.ts';
import type { Database } from '../../store/db/database.ts';
import { backups } from '../../store/db/schema.ts';
import { excludedOf } from '../../store/db/statement.ts';
import { type BackupDirectory, listBackups } from './backup-directory.ts';

/** Makes the table, which alerts and `weir doctor` read and a restore sets back, agree with a directory. */
export async function recordBackups(database: Database, directory: BackupDirectory): Promise<void> {
  const found = listBackups(directory).map(({ label, stoppedAt, verified, bytes }) => ({
    label,
    location: directory.path,
    stoppedAt: new Date(stoppedAt),
    verifiedAt: verified === undefined ? null : new Date(verified.at),
    bytes,
  }));
  const gone = notInArray(
    backups.label,
    found.map(({ label }) => label),
  );
  await database.delete(backups).where(and(eq(backups.location, directory.path), gone));
  if (found.length === 0) return;
  await database
    .insert(backups)
    .values(found)
    .onConflictDoUpdate({
      target: backups.label,
      set: excludedOf(pick(backups, 'stoppedAt', 'verifiedAt', 'bytes')),
    });
}
