import { fileURLToPath } from 'node:url';
import { migrate as runMigrations } from 'drizzle-orm/postgres-js/migrator';
import { ConfigError } from './config.ts';
import { openPostgres, type Sql } from './db/connect.ts';
import { openDatabase } from './db/database.ts';
import { changeShardsInSequence, distributeTables } from './db/distribution.ts';
import { ensurePartitions, serverTimeMs } from './db/partitions.ts';
import { releasePlannerStatistics } from './db/planner-statistics.ts';
import { grantRights } from './db/roles/grants.ts';
import { newestMigration } from './db/schema/version.ts';
import { importListPrices } from './prices/list-prices.ts';
import { readShippedList } from './prices/price-list.ts';

const migrationsFolder = fileURLToPath(new URL('db/migrations', import.meta.url));

/** Postgres 18, the first version with uuidv7(). */
const serverVersionMin = 180_000;

/** An arbitrary number, unlikely to be an advisory lock of another application. */
const migrationLock = 7_394_210;

/**
 * Brings the database to this version's schema, with the list prices that come with it, the partitions
 * that are needed now, and the rights of the services' roles. Safe to call from several
 * processes at once.
 *
 * @throws ConfigError when the server is too old, or the database was written by a newer Weir.
 */
export function migrateDatabase(url: string): Promise<void> {
  return whileLocked(url, async (sql) => {
    await refuseOldServer(sql);
    await refuseNewerSchema(sql);
    const database = openDatabase(sql);
    await changeShardsInSequence(database);
    await runMigrations(database, { migrationsFolder });
    await importListPrices(database, await readShippedList());
    await grantRights(database);
    await ensurePartitions(database, await serverTimeMs(database));
  });
}

/**
 * Distributes the tables of a migrated database over the workers of a Citus cluster (db/distribution.ts). Safe to call again, and
 * from several processes at once.
 *
 * @param url of the coordinator.
 * @param shards default: two for each worker, at least four. No effect on tables that are already distributed.
 * @returns the tables that were distributed now.
 * @throws ConfigError when the server is not the coordinator of a Citus cluster.
 */
export function distributeDatabase(url: string, shards?: number): Promise<string[]> {
  return whileLocked(url, async (sql) => {
    const database = openDatabase(sql);
    await releasePlannerStatistics(database);
    return distributeTables(database, shards);
  });
}

/** One connection, because the advisory lock belongs to it. Without the lock, concurrent migrations fail. */
async function whileLocked<T>(url: string, run: (sql: Sql) => Promise<T>): Promise<T> {
  await using sql = openPostgres(url, {
    applicationName: 'weir-migrate',
    connectionsMax: 1,
    statementTimeoutMs: 0,
  });
  await sql`SELECT pg_advisory_lock(${migrationLock})`;
  try {
    return await run(sql);
  } finally {
    await sql`SELECT pg_advisory_unlock(${migrationLock})`;
  }
}

async function refuseOldServer(sql: Sql): Promise<void> {
  const [row] = await sql<{ version: number; shown: string }[]>`
    SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS shown`;
  if (row === undefined || row.version < serverVersionMin) {
    throw new ConfigError(
      `Postgres ${row?.shown} is too old: Weir needs Postgres 18 or newer. Set DATABASE_URL to one.`,
    );
  }
}

async function refuseNewerSchema(sql: Sql): Promise<void> {
  const [table] = await sql`SELECT to_regclass('drizzle.__drizzle_migrations') AS name`;
  if (table?.name == null) return;
  const [row] = await sql<
    { newest: string | null }[]
  >`SELECT max(created_at) AS newest FROM drizzle.__drizzle_migrations`;
  if (row?.newest != null && Number(row.newest) > newestMigration.when) {
    throw new ConfigError(
      'The database was written by a newer version of Weir. Run that version, or point DATABASE_URL (or WEIR_DATA_DIR) elsewhere.',
    );
  }
}
