import { ConfigError } from '../../platform/config/config-error.ts';
import type { Logger } from '../../platform/log.ts';
import { version } from '../../platform/version.ts';
import { type Sql, throwIfRejected } from '../db/connect.ts';
import { openDatabase } from '../db/database.ts';
import { findUndistributed, refuseWorker } from '../db/layout/distribution.ts';
import { newestMigration } from '../db/version.ts';

/** The oldest Weir that works with this schema: its services may run while the database is migrated. */
const oldestVersion = '0.1.0';

/** The version of the newest migration that the database has; 0 without any. */
export async function readNewest(sql: Sql): Promise<number> {
  const [table] = await sql`SELECT to_regclass('drizzle.__drizzle_migrations') AS name`;
  if (table?.name == null) return 0;
  const [row] = await sql<{ newest: string | null }[]>`
    SELECT max(created_at)::text AS newest FROM drizzle.__drizzle_migrations`;
  return Number(row?.newest ?? 0);
}

export async function recordOldestVersion(sql: Sql): Promise<void> {
  await sql.unsafe(`COMMENT ON TABLE drizzle.__drizzle_migrations IS 'weir >= ${oldestVersion}'`);
}

/**
 * Checks that all migrations of this version are applied, or newer ones that allow it.
 * @throws ConfigError when the schema is older, or of a version that this one cannot work with.
 */
export async function requireSchema(sql: Sql): Promise<void> {
  if ((await readNewest(sql)) < newestMigration.when) {
    throw new ConfigError(
      `The schema of the database is older than ${newestMigration.tag}, which Weir ${version} needs. Run \`weir migrate\`.`,
    );
  }
  await refuseNewerSchema(sql);
}

/**
 * Checks the schema when a service starts, which it also does while Postgres is away: then nothing is
 * checked.
 * @throws ConfigError as {@link requireSchema} does, and when Postgres rejects the user, password or
 * database.
 */
export async function requireSchemaOnStart(sql: Sql, log: Logger): Promise<void> {
  try {
    const database = openDatabase(sql);
    await refuseWorker(database);
    await requireSchema(sql);
    const fault = await findUndistributed(database);
    if (fault !== undefined) log.warn(fault);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throwIfRejected(error, sql);
    log.warn({ err: error }, 'the schema could not be checked');
  }
}

/** @throws ConfigError when a newer Weir migrated the database that this version cannot work beside. */
export async function refuseNewerSchema(sql: Sql): Promise<void> {
  if ((await readNewest(sql)) <= newestMigration.when) return;
  const [row] = await sql<{ oldest: string | null }[]>`
    SELECT substring(obj_description('drizzle.__drizzle_migrations'::regclass) FROM '^weir >= (.*)$') AS oldest`;
  if (row?.oldest != null && isAtLeast(version, row.oldest)) return;
  throw new ConfigError(
    `The database was written by a newer version of Weir${row?.oldest == null ? '' : `, which works with ${row.oldest} and newer, not with ${version}`}. Run that version, or point DATABASE_URL (or WEIR_DATA_DIR) elsewhere.`,
  );
}

function isAtLeast(one: string, least: string): boolean {
  return one.localeCompare(least, 'en', { numeric: true }) >= 0;
}
