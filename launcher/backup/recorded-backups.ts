import { and, eq, notInArray, sql } from 'drizzle-orm';
import type { Database } from '../../store/db/database.ts';
import { backups } from '../../store/db/schema.ts';
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
      set: {
        stoppedAt: sql`excluded.${sql.identifier(backups.stoppedAt.name)}`,
        verifiedAt: sql`excluded.${sql.identifier(backups.verifiedAt.name)}`,
        bytes: sql`excluded.${sql.identifier(backups.bytes.name)}`,
      },
    });
}
