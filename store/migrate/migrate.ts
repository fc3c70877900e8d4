import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type MigrationMeta, readMigrationFiles } from 'drizzle-orm/migrator';
import postgres from 'postgres';
import { ConfigError } from '../../platform/config/config-error.ts';
import { planTriggers } from '../control/triggers.ts';
import { readServerClock } from '../db/clock.ts';
import { openPostgres, type Sql } from '../db/connect.ts';
import { openDatabase } from '../db/database.ts';
import {
  changeShardsInSequence,
  distributeTables,
  isDistributed,
  refuseWorker,
} from '../db/layout/distribution.ts';
import { ensurePartitions } from '../db/partitions.ts';
import { setPlannerStatistics } from '../db/planner-statistics.ts';
import { grantRights } from '../db/roles/grants.ts';
import { firstMigration, newestMigration } from '../db/version.ts';
import { importListPrices } from '../prices/list-prices.ts';
import { readShippedList } from '../prices/price-list.ts';
import { readNewest, recordOldestVersion, refuseNewerSchema } from './schema-range.ts';
import { planStatements, type StatementPlan, splitStatements } from './statements.ts';

/** The first version with uuidv7(). */
const serverVersionMin = 180_000;

/** Lock time-out of a migration's statement: all other statements on its table wait meanwhile. */
const migrationLockTimeoutMs = 2_000;

/** Tries of a locked statement, and the pause in between: twenty minutes, longer than retention's locks. */
const migrationLockTries = 400;
const migrationLockPauseMs = 1_000;

/** Interval at which a migrator looks whether another one has ended. */
const migratorPollMs = 250;

/** An arbitrary number, unlikely to be an advisory lock of another application. */
const migrationLock = 7_394_210;

/**
 * Brings the database to this version's schema, list prices, triggers, current partitions and rights of
 * roles. On a distributed database it distributes new tables, too. Safe in several processes at once, while
 * services of the previous version run.
 * @throws ConfigError when the server is too old, the database is not in UTF-8, or a newer Weir wrote it that
 * this version cannot work beside.
 */
export function migrateDatabase(url: string): Promise<void> {
  return whileLocked(url, async (sql) => {
    await refuseServer(sql);
    await refuseWorker(openDatabase(sql));
    await refuseNewerSchema(sql);
    // Another version's schema: its rights and prices are its own.
    if ((await readNewest(sql)) > newestMigration.when) return;
    const database = openDatabase(sql);
    await changeShardsInSequence(database);
    await applyMigrations(sql, await readPending(sql));
    await recordOldestVersion(sql);
    if (await isDistributed(database)) await distributeTables(database);
    await importListPrices(database, await readShippedList());
    // Not for the first import, which adds all of its thousands of prices.
    await applyStatements(sql, await planTriggers(database));
    await grantRights(database);
    await ensurePartitions(database, await readServerClock(database));
  });
}

/**
 * Distributes the tables of a migrated database over a Citus cluster (db/layout/distribution.ts). Safe to
 * call again, and from several processes at once.
 * @param url of the coordinator. @param shards for new tables; default: two for each worker, at least four.
 * @returns the tables that were distributed now.
 * @throws ConfigError when the server is not the coordinator of a Citus cluster.
 */
export function distributeDatabase(url: string, shards?: number): Promise<string[]> {
  return whileLocked(url, async (sql) => {
    const database = openDatabase(sql);
    await refuseWorker(database);
    const distributed = await distributeTables(database, shards);
    await setPlannerStatistics(database);
    return distributed;
  });
}

/** One step of a migration, for an operator who decides when to run it. */
export interface PlannedStep extends StatementPlan {
  /** Whether it is a separate transaction from the other steps of the migration. */
  readonly isOnline: boolean;
}

/** What {@link migrateDatabase} would do, and what each step locks. Reads only. */
export async function planMigration(url: string): Promise<PlannedStep[]> {
  await using sql = openMigrator(url);
  await refuseServer(sql);
  await refuseNewerSchema(sql);
  const pending = await readPending(sql);
  return pending.flatMap(({ statements, isOnline, meta }) =>
    // The first migration makes an empty database: it may do anything.
    meta.folderMillis === firstMigration.when
      ? [{ statement: firstMigration.tag, locks: 'nothing: the database is empty', isOnline }]
      : planStatements(statements).map((step) => ({ ...step, isOnline })),
  );
}

function openMigrator(url: string) {
  return openPostgres(url, { applicationName: 'weir-migrate', statementTimeoutMs: 0 });
}

/**
 * One connection, to which the advisory lock belongs. Concurrent migrations fail without it. Polled: a
 * session that waits in pg_advisory_lock() holds a snapshot, for which CREATE INDEX CONCURRENTLY of the other
 * one waits forever.
 */
async function whileLocked<T>(url: string, run: (sql: Sql) => Promise<T>): Promise<T> {
  await using sql = openMigrator(url);
  while (!(await tryLock(sql))) await sleep(migratorPollMs);
  try {
    return await run(sql);
  } finally {
    await sql`SELECT pg_advisory_unlock(${migrationLock})`;
  }
}

async function tryLock(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ locked: boolean }[]>`SELECT pg_try_advisory_lock(${migrationLock}) AS locked`;
  return row?.locked === true;
}

async function refuseServer(sql: Sql): Promise<void> {
  const [row] = await sql<{ version: number; shown: string; encoding: string }[]>`
    SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS shown,
      current_setting('server_encoding') AS encoding`;
  if (row === undefined || row.version < serverVersionMin) {
    throw new ConfigError(
      `Postgres ${row?.shown} is too old: Weir needs Postgres 18 or newer. Set DATABASE_URL to one.`,
    );
  }
  if (row.encoding !== 'UTF8') {
    throw new ConfigError(
      `The database has the encoding ${row.encoding}: Weir needs UTF8. Set DATABASE_URL to another one.`,
    );
  }
}

const migrationsFolder = fileURLToPath(new URL('../db/migrations', import.meta.url));

interface PendingMigration {
  /**
   * `-- online` at the start: statement by statement, each a transaction, as CREATE INDEX CONCURRENTLY needs.
   * They can be repeated: after an interruption all run again. Other migrations are one transaction.
   */
  readonly isOnline: boolean;
  readonly statements: readonly string[];
  readonly meta: MigrationMeta;
}

/** The migrations that the database does not have, oldest first. Reads only. */
async function readPending(sql: Sql): Promise<PendingMigration[]> {
  const newest = await readNewest(sql);
  return readMigrationFiles({ migrationsFolder })
    .filter(({ folderMillis }) => folderMillis > newest)
    .map((meta) => {
      const text = meta.sql.join('');
      return { meta, isOnline: text.startsWith('-- online'), statements: splitStatements(text) };
    });
}

/**
 * A statement that waits for a lock makes all later ones wait: each gives up after `migrationLockTimeoutMs`,
 * and is tried again.
 * @param sql one connection, without a statement time-out.
 * @throws the error of the statement that failed. What was applied before stays; call again.
 */
async function applyMigrations(sql: Sql, pending: readonly PendingMigration[]): Promise<void> {
  // The names that drizzle-orm's own migrator uses.
  await sql`CREATE SCHEMA IF NOT EXISTS drizzle`;
  await sql`CREATE TABLE IF NOT EXISTS drizzle.__drizzle_migrations (
    id serial PRIMARY KEY, hash text NOT NULL, created_at bigint)`;
  await withLockTimeout(sql, async () => {
    for (const migration of pending) await apply(sql, migration);
  });
}

/** Repeatable ones, each in a transaction, like those of a migration that is `-- online`. */
async function applyStatements(sql: Sql, statements: readonly string[]): Promise<void> {
  await withLockTimeout(sql, async () => {
    for (const statement of statements) await retryLocked(() => sql.unsafe(statement));
  });
}

async function withLockTimeout(sql: Sql, run: () => Promise<void>): Promise<void> {
  await sql`SELECT set_config('lock_timeout', ${`${migrationLockTimeoutMs}ms`}, false)`;
  await run();
  await sql`SELECT set_config('lock_timeout', '0', false)`;
}

async function apply(sql: Sql, { meta, isOnline, statements }: PendingMigration): Promise<void> {
  const record = (on: Sql | postgres.TransactionSql) => on`
    INSERT INTO drizzle.__drizzle_migrations (hash, created_at) VALUES (${meta.hash}, ${meta.folderMillis})`;
  if (isOnline) {
    for (const statement of statements) await retryLocked(() => sql.unsafe(statement));
    await record(sql);
    return;
  }
  await retryLocked(() =>
    sql.begin(async (transaction) => {
      for (const statement of statements) await transaction.unsafe(statement);
      await record(transaction);
    }),
  );
}

/** Retries what fails with lock_not_available or deadlock_detected. */
async function retryLocked(run: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await run();
      return;
    } catch (error) {
      const isLocked = error instanceof postgres.PostgresError && ['55P03', '40P01'].includes(error.code);
      if (!isLocked || attempt === migrationLockTries) throw error;
      await sleep(migrationLockPauseMs);
    }
  }
}
