import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { migrate as runMigrations } from 'drizzle-orm/postgres-js/migrator';
import { ConfigError } from '../config.ts';
import { openPostgres, type Sql } from './connect.ts';
import { openDatabase } from './database.ts';

const migrationsFolder = fileURLToPath(new URL('migrations', import.meta.url));

/** The oldest Postgres that has what we use: uuidv7(). */
const serverVersionMin = 180_000;

/** Any number that no other application on the same server is likely to lock. */
const migrationLock = 7_394_210;

/**
 * Brings the database to this version's schema. Safe to call from several processes at once.
 *
 * @throws ConfigError when the server is too old, or the database was written by a newer Weir.
 */
export async function migrateDatabase(url: string): Promise<void> {
  // One connection: the advisory lock belongs to it, and concurrent migrations fail without it.
  await using sql = openPostgres(url, {
    applicationName: 'weir-migrate',
    connectionsMax: 1,
    statementTimeoutMs: 0,
  });
  await refuseOldServer(sql);
  await sql`SELECT pg_advisory_lock(${migrationLock})`;
  try {
    await refuseNewerSchema(sql);
    await runMigrations(openDatabase(sql), { migrationsFolder });
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
  const journal: { entries: { when: number }[] } = JSON.parse(
    await readFile(`${migrationsFolder}/meta/_journal.json`, 'utf8'),
  );
  const newestOurs = Math.max(...journal.entries.map((entry) => entry.when));
  const [row] = await sql<
    { newest: string | null }[]
  >`SELECT max(created_at) AS newest FROM drizzle.__drizzle_migrations`;
  if (row?.newest != null && Number(row.newest) > newestOurs) {
    throw new ConfigError(
      'The database was written by a newer version of Weir. Run that version, or point DATABASE_URL (or WEIR_DATA_DIR) elsewhere.',
    );
  }
}
