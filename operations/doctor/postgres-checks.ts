import { count, isNull, max, sql } from 'drizzle-orm';
import { dayMs } from '../../platform/time.ts';
import { expectSameTime, readServerClock } from '../../store/db/clock.ts';
import { type Database, readOne } from '../../store/db/database.ts';
import { requireDurable } from '../../store/db/durability.ts';
import { findPartitionFaults, listPartitions, partitionedTables } from '../../store/db/partitions.ts';
import { erasures, quarantine } from '../../store/db/schema.ts';
import { newestMigration } from '../../store/db/version.ts';
import { requireSchema } from '../../store/migrate/schema-range.ts';
import { readArchiveState, readLastBackup } from '../storage/backup-state.ts';
import { checkCluster } from './cluster-checks.ts';
import { checkPendingChanges } from './control-checks.ts';
import { type Finding, failed, finding, ok, skipped, type Verdict, warning } from './finding.ts';
import { checkDiskDays, checkSpaces } from './growth-checks.ts';
import { archiveBehindBytesMax, backupSecondsMax, transactionSecondsMax, weeksAheadMin } from './limits.ts';
import { checkStatistics } from './statistics-checks.ts';

/**
 * @param embeddedIn data directory of the `weir start` whose Postgres it is; undefined for the operator's.
 */
export async function checkPostgres(database: Database, embeddedIn: string | undefined): Promise<Finding[]> {
  const reached = await finding('postgres.reachable', 'Start Postgres, or correct DATABASE_URL.', () =>
    checkVersion(database),
  );
  if (reached.some(({ status }) => status === 'failed')) return reached;
  const rest = await Promise.all([
    finding('postgres.durability', 'Turn the settings on in the configuration of Postgres.', async () => {
      await requireDurable(database);
      return ok('fsync and full_page_writes are on');
    }),
    finding('postgres.writable', 'Read `SHOW transaction_read_only`.', () => checkWritable(database)),
    finding('postgres.checksums', 'Read `SHOW data_checksums`.', () => checkChecksums(database)),
    finding('postgres.clock', 'Synchronise the clocks (NTP) of this machine and of Postgres.', () =>
      checkClock(database),
    ),
    finding('postgres.schema', 'Run `weir migrate`.', async () => {
      await requireSchema(database.$client);
      return ok(newestMigration.tag);
    }),
    finding('postgres.partitions', 'Read the log of the writer: it makes the partitions.', () =>
      checkPartitions(database),
    ),
    finding('postgres.roles', 'Run store/db/roles/roles.sql (docs/cluster.md).', () => checkRoles(database)),
    finding('postgres.connections', 'Raise max_connections.', () => checkConnections(database)),
    finding('postgres.transactions', 'Find the session in pg_stat_activity.', () =>
      checkTransactions(database),
    ),
    finding('cluster', 'See docs/cluster.md.', () => checkCluster(database)),
    finding('backup', 'See docs/backup.md.', () => checkBackup(database, embeddedIn !== undefined)),
    finding('archive', 'Read the log of Postgres.', () => checkArchive(database, embeddedIn !== undefined)),
    finding('control.pending', 'Run `weir migrate`.', () => checkPendingChanges(database)),
    finding('statistics', 'Read the log of the writers.', () => checkStatistics(database)),
    finding('spaces', 'Read `weir usage`.', () => checkSpaces(database)),
    finding('disk.days', 'Check WEIR_DATA_DIR.', async () =>
      embeddedIn === undefined ? undefined : checkDiskDays(database, embeddedIn),
    ),
    finding('quarantine', 'Read `weir quarantine list`.', () => checkQuarantine(database)),
    finding('erasures', 'Run `weir erase` again.', () => checkErasures(database)),
  ]);
  return [...reached, ...rest.flat()];
}

async function checkVersion(database: Database): Promise<Verdict> {
  const query = sql`SELECT current_setting('server_version') AS version`;
  const { version } = await readOne<{ version: string }>(database, query);
  if (Number.parseInt(version, 10) >= 18) return ok(`Postgres ${version}`);
  return failed(`Postgres ${version} is too old`, 'Upgrade to Postgres 18 or newer.');
}

async function checkWritable(database: Database): Promise<Verdict> {
  const query = sql`
    SELECT current_setting('transaction_read_only') = 'on' AS "isReadOnly", pg_is_in_recovery() AS "isStandby"`;
  const { isReadOnly, isStandby } = await readOne<Record<'isReadOnly' | 'isStandby', boolean>>(
    database,
    query,
  );
  if (!isReadOnly) return ok('transactions may write');
  return failed(
    isStandby ? 'this server is a standby' : 'default_transaction_read_only is on: nothing is stored',
    isStandby
      ? 'Let DATABASE_URL name the primary, or promote this server.'
      : 'Turn it off, after you have removed its reason (often a full disk).',
  );
}

async function checkChecksums(database: Database): Promise<Verdict> {
  const query = sql`SELECT current_setting('data_checksums') = 'on' AS on`;
  const { on } = await readOne<{ on: boolean }>(database, query);
  if (on) return ok('data checksums are on');
  return warning(
    'data checksums are off: a damaged page of the disk is read as if it were right',
    'Stop Postgres and run `pg_checksums --enable`.',
  );
}

async function checkClock(database: Database): Promise<Verdict> {
  const startedMs = Date.now();
  const serverMs = await readServerClock(database);
  const ownMs = (startedMs + Date.now()) / 2;
  expectSameTime(serverMs, ownMs);
  return ok(`differs by ${Math.round(Math.abs(serverMs - ownMs))} ms from this machine`);
}

async function checkPartitions(database: Database): Promise<Verdict> {
  const nowMs = await readServerClock(database);
  const faults = await findPartitionFaults(database, nowMs);
  if (faults.length > 0)
    return failed(faults.join('; '), 'Read the log of the writer: it makes partitions every hour.');
  const ends = await Promise.all(
    partitionedTables.map(async ({ table }) =>
      Math.max(...(await listPartitions(database, table)).map(({ range }) => range?.toMs ?? 0)),
    ),
  );
  const weeksAhead = Math.floor((Math.min(...ends) - nowMs) / (7 * dayMs));
  if (weeksAhead >= weeksAheadMin) return ok(`made for ${weeksAhead} weeks ahead`);
  return warning(
    `made for only ${weeksAhead} weeks ahead`,
    'Start a writer, or read its log: it makes partitions every hour.',
  );
}

/** A service as superuser works, but a defect in it could then read or change everything. */
async function checkRoles(database: Database): Promise<Verdict> {
  const rows = await database.execute<{ name: string }>(sql`
    SELECT DISTINCT application_name AS name FROM pg_stat_activity JOIN pg_roles ON rolname = usename
    WHERE rolsuper AND application_name IN ('weir-ingest', 'weir-writer', 'weir-dashboard-api') AND datname = current_database()`);
  if (rows.length === 0) return ok('no service is connected as a superuser');
  return warning(
    `${rows.map(({ name }) => name).join(', ')} ${rows.length === 1 ? 'is' : 'are'} connected as a superuser`,
    'Give each service its own role: store/db/roles/roles.sql (docs/cluster.md).',
  );
}

async function checkConnections(database: Database): Promise<Verdict> {
  // Without pg_read_all_stats a role sees these counts, but not the activity of other roles.
  const query = sql`
    SELECT sum(numbackends)::int AS used, current_setting('max_connections')::int AS limit FROM pg_stat_database`;
  const { used, limit } = await readOne<{ used: number; limit: number }>(database, query);
  const found = `${used} of ${limit} connections are used`;
  if (used < 0.8 * limit) return ok(found);
  return warning(found, 'Raise max_connections, or find who holds them in pg_stat_activity.');
}

async function checkTransactions(database: Database): Promise<Verdict> {
  const query = sql`SELECT pg_has_role(current_user, 'pg_read_all_stats', 'USAGE') AS "isVisible"`;
  const { isVisible } = await readOne<{ isVisible: boolean }>(database, query);
  if (!isVisible)
    return skipped(
      'the sessions of other roles are hidden from this one',
      'Run `weir doctor` as the owner of the database.',
    );
  const rows = await database.execute<{ pid: number; name: string; seconds: number }>(sql`
    SELECT pid, application_name AS name, floor(extract(epoch FROM now() - xact_start))::int AS seconds FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND xact_start < now() - make_interval(secs => ${transactionSecondsMax})
    ORDER BY xact_start LIMIT 1`);
  const [oldest] = rows;
  if (oldest === undefined) return ok('none is open for more than an hour');
  return warning(
    `a transaction of ${oldest.name || 'an unnamed client'} (pid ${oldest.pid}) is open for ${oldest.seconds} s: deleted rows take space until it ends`,
    `End it: SELECT pg_terminate_backend(${oldest.pid}).`,
  );
}

async function checkBackup(database: Database, isEmbedded: boolean): Promise<Verdict> {
  const last = await readLastBackup(database);
  if (last === undefined)
    return warning(
      'none was recorded: a lost disk of Postgres is a loss of all events',
      isEmbedded
        ? 'Run `weir backup` every day (docs/backup.md).'
        : 'Back it up every day with a tool of its own, and record each backup: `weir backup --record TOOL` (docs/backup.md).',
    );
  const found = `the last verified one is ${(last.ageSeconds / 3_600).toFixed(1)} hours old, in ${last.location}`;
  if (last.ageSeconds <= backupSecondsMax) return ok(found);
  const tool = isEmbedded ? '`weir backup`' : 'your tool, then `weir backup --record TOOL`';
  return warning(found, `Run ${tool}, and look why it did not run (docs/backup.md).`);
}

/** Postgres keeps all WAL that it could not archive, until its disk is full. */
async function checkArchive(database: Database, isEmbedded: boolean): Promise<Verdict> {
  const { isOn, behindBytes, isFailing } = await readArchiveState(database);
  if (!isOn)
    return skipped(
      'Postgres does not archive its WAL',
      `A restore reaches the last backup only. ${isEmbedded ? 'The first `weir backup` turns the archive on' : 'Let your tool archive it'} (docs/backup.md).`,
    );
  const found = `${Math.round((behindBytes ?? 0) / 1024 ** 2)} MB of WAL are not archived yet`;
  if (!isFailing && (behindBytes ?? 0) <= archiveBehindBytesMax) return ok(found);
  return failed(
    isFailing ? `Postgres cannot archive: ${found}` : found,
    'Read the log of Postgres, and see docs/operating.md, WeirArchiveBehind. Postgres keeps this WAL until its disk is full.',
  );
}

async function checkQuarantine(database: Database): Promise<Verdict> {
  const [row] = await database.select({ entries: count() }).from(quarantine);
  const entries = row?.entries ?? 0;
  if (entries === 0) return ok('empty');
  return warning(
    `${entries} events that Postgres rejected`,
    'Read `weir quarantine list`, remove the cause, then run `weir quarantine replay`.',
  );
}

async function checkErasures(database: Database): Promise<Verdict> {
  const [row] = await database
    .select({ open: count(), startedAt: max(erasures.startedAt) })
    .from(erasures)
    .where(isNull(erasures.completedAt));
  if (row === undefined || row.open === 0) return ok('none is unfinished');
  return warning(
    `${row.open} unfinished, the last one since ${row.startedAt?.toISOString()}`,
    'If none is running now, run the same `weir erase` again: it continues (docs/data-lifecycle.md#erasure). Writers continue those of the dashboard and of deleted spaces.',
  );
}
