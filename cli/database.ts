import { type Config, parseConfig, requireConfig } from '../lib/config.ts';
import { withLocalConnection } from '../lib/connection.ts';
import { openPostgres, type Sql } from '../lib/db/connect.ts';
import { type Database, openDatabase } from '../lib/db/database.ts';
import { segmentReadsMax, statementTimeoutMs } from '../lib/limits.ts';
import { CommandFailure, type Host } from './host.ts';

/** The configuration, with what `npm start` runs in the data directory filled in. */
export function readConfig(host: Host): Config {
  return parseConfig(withLocalConnection(host.env));
}

/**
 * Runs a command on Postgres, and closes its connections after it.
 *
 * @throws CommandFailure when nothing says where Postgres is.
 */
export async function withPostgres(host: Host, run: (sql: Sql) => Promise<void>): Promise<void> {
  await using sql = openPostgres(requireDatabaseUrl(host), {
    applicationName: 'weir-cli',
    connectionsMax: segmentReadsMax,
    statementTimeoutMs,
  });
  await run(sql);
}

/** @throws CommandFailure when nothing says where Postgres is. */
export function requireDatabaseUrl(host: Host): string {
  const { DATABASE_URL, WEIR_DATA_DIR } = readConfig(host);
  if (DATABASE_URL !== undefined) return DATABASE_URL;
  throw new CommandFailure(
    `Nothing was started in ${WEIR_DATA_DIR} yet. Start Weir with \`npm start\`, or set WEIR_DATA_DIR or DATABASE_URL to one that runs.`,
  );
}

/** As withPostgres, with Drizzle around the pool. */
export function withDatabase(
  host: Host,
  run: (database: Database, sql: Sql) => Promise<void>,
): Promise<void> {
  return withPostgres(host, (sql) => run(openDatabase(sql), sql));
}

/** The secret that API keys are hashed with. @throws ConfigError when it is not known here. */
export function readPepper(host: Host): string {
  return requireConfig(readConfig(host), ['API_KEY_PEPPER']).API_KEY_PEPPER;
}

/** @throws CommandFailure when there is no such space. */
export async function requireSpace(sql: Sql, spaceId: string): Promise<void> {
  const [space] = await sql`SELECT 1 FROM spaces WHERE id = ${spaceId}`;
  if (space === undefined) throw noSuchSpace(spaceId);
}

export function noSuchSpace(spaceId: string): CommandFailure {
  return new CommandFailure(`There is no space ${spaceId}. \`space list\` shows those that exist.`);
}
