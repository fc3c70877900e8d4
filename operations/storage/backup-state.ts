import { desc, isNotNull, sql } from 'drizzle-orm';
import { type Database, readOne } from '../../store/db/database.ts';
import { backups } from '../../store/db/schema.ts';

/** The newest one that was proved to be restorable. */
export async function readLastBackup(database: Database) {
  const [row] = await database
    .select({
      label: backups.label,
      location: backups.location,
      /** How long ago, by the clock of Postgres. */
      ageSeconds: sql<number>`extract(epoch FROM now() - ${backups.stoppedAt})::float8`,
    })
    .from(backups)
    .where(isNotNull(backups.verifiedAt))
    .orderBy(desc(backups.stoppedAt))
    .limit(1);
  return row;
}

/** The embedded Postgres has `archive_command = 'true'` until its first backup. */
export const isArchiving = sql<boolean>`(current_setting('archive_mode') <> 'off' AND (current_setting('archive_library') <> ''
  OR current_setting('archive_command') NOT IN ('', '(disabled)', 'true')))`;

/**
 * `behindBytes`: WAL that was written after the last segment in the archive; null with `archive_mode=off`.
 * `isFailing`: the last attempt failed.
 */
export function readArchiveState(database: Database) {
  const query = sql`
    SELECT ${isArchiving} AS "isOn",
      CASE WHEN current_setting('archive_mode') <> 'off' THEN
        coalesce(greatest(0, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') - segment_end), 0)::float8 END AS "behindBytes",
      coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false) AS "isFailing"
    FROM pg_stat_archiver, LATERAL (SELECT pg_size_bytes(current_setting('wal_segment_size')) AS size) AS setting,
      -- The name of a segment is its timeline and its number, in two parts of eight hexadecimal digits.
      LATERAL (SELECT CASE WHEN last_archived_wal ~ '^[0-9A-F]{24}'
        THEN ('x' || lpad(substr(last_archived_wal, 9, 8), 16, '0'))::bit(64)::bigint::numeric * 4294967296
          + (('x' || lpad(substr(last_archived_wal, 17, 8), 16, '0'))::bit(64)::bigint + 1) * size END AS segment_end) AS archived`;
  return readOne<{ isOn: boolean; behindBytes: number | null; isFailing: boolean }>(database, query);
}
