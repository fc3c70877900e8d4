import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '../../store/db/connect.ts';
import { findMissing } from './wal-segments.ts';

/** A WAL segment that is not full is archived after this time, with all of its 16 MB. */
const archiveTimeout = '5min';

/** How long a backup waits until its WAL is archived: a slow disk may have many segments waiting. */
const archiveTimeoutMs = 120_000;

const pollMs = 50;

/** Postgres tries three times, and then pauses for a minute. */
const failuresMax = 3;

/**
 * Lets Postgres archive its WAL to an existing directory that its user can write to.
 * @param sql of a superuser.
 * @returns puts the previous archive directory back.
 * @throws Error when the server was started without an archive.
 */
export async function ensureArchiving(sql: Sql, wal: string): Promise<() => Promise<void>> {
  const [now] = await sql<{ mode: string; level: string; library: string; directory: string | null }[]>`
    SELECT current_setting('archive_mode') AS mode, current_setting('wal_level') AS level,
      current_setting('archive_library') AS library, current_setting('basic_archive.archive_directory', true) AS directory`;
  if (now?.mode === 'off' || now?.level === 'minimal')
    throw new Error('Postgres was started without an archive: restart Weir, then repeat the backup');
  const before = now?.library === 'basic_archive' ? now.directory : null;
  if (before === wal) return async () => {};
  await archiveTo(sql, wal);
  return () => (before === null ? stopArchiving(sql) : archiveTo(sql, before));
}

async function archiveTo(sql: Sql, wal: string): Promise<void> {
  await sql`ALTER SYSTEM SET archive_command = ''`;
  await sql`ALTER SYSTEM SET archive_library = 'basic_archive'`;
  await sql`ALTER SYSTEM SET basic_archive.archive_directory = ${sql.unsafe(`'${wal.replaceAll("'", "''")}'`)}`;
  await sql`ALTER SYSTEM SET archive_timeout = ${sql.unsafe(`'${archiveTimeout}'`)}`;
  await sql`SELECT pg_reload_conf()`;
}

/** Ends the archive, so that Postgres recycles its WAL. Existing backups stay restorable up to this time. */
async function stopArchiving(sql: Sql): Promise<void> {
  for (const name of [
    'archive_command',
    'archive_library',
    'basic_archive.archive_directory',
    'archive_timeout',
  ])
    await sql`ALTER SYSTEM RESET ${sql.unsafe(name)}`;
  await sql`SELECT pg_reload_conf()`;
}

/** Waits until segments are archived. @throws Error that says why Postgres could not archive, if it tells. */
export async function untilArchived(
  sql: Sql,
  wal: string,
  { segments, segmentBytes }: { segments: readonly string[]; segmentBytes: number },
): Promise<void> {
  const deadlineMs = performance.now() + archiveTimeoutMs;
  const before = await readFailures(sql);
  for (;;) {
    const missing = findMissing(wal, segments, segmentBytes);
    if (missing.length === 0) return;
    const { failures, failed } = await readFailures(sql);
    const isFailing = failures >= before.failures + failuresMax;
    if (isFailing || performance.now() > deadlineMs)
      throw new Error(
        `Postgres did not archive ${missing[0]} to ${wal}${isFailing ? ` (${failures - before.failures} failures, the last one of ${failed}: its log says why)` : ''}. ` +
          'The directory must be writable for the user of Postgres, and have free space.',
      );
    await sleep(pollMs);
  }
}

async function readFailures(sql: Sql): Promise<{ failures: number; failed: string | null }> {
  const [row] = await sql<{ failures: number; failed: string | null }[]>`
    SELECT failed_count::int AS failures, last_failed_wal AS failed FROM pg_stat_archiver`;
  return { failures: row?.failures ?? 0, failed: row?.failed ?? null };
}
