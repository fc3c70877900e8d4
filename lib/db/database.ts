import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import type { Sql } from './connect.ts';
import * as schema from './schema.ts';

export type Database = PostgresJsDatabase<typeof schema>;

/**
 * Drizzle's view of a pool, for the command line and the first run. Services import connect.ts only: loading Drizzle
 * costs 125 MB of memory and half a second. It also changes the pool's parsers.
 */
export function openDatabase(sql: Sql): Database {
  return drizzle(sql, { schema });
}
