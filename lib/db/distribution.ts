import { getTableName, is, sql } from 'drizzle-orm';
import { getTableConfig, PgTable } from 'drizzle-orm/pg-core';
import { ConfigError } from '../config.ts';
import type { Database } from './database.ts';
import * as schema from './schema.ts';

/**
 * The distribution of tables over a Citus cluster (docs/cluster.md). Tables whose primary key begins with the space are
 * distributed by it, so that all rows of a space are on one worker. The others are local to the coordinator: they are
 * small, have foreign keys to each other, and their triggers must notify on the server that ingest listens to.
 */

const spaceColumn = schema.events.spaceId.name;

/** Local to the coordinator although the key begins with the space: they have only one row per erasure. */
const ofCoordinator: readonly PgTable[] = [schema.erasures, schema.erasureRequests];

/** The distributed tables. All others are colocated with the first one. */
export const distributedTables: readonly PgTable[] = Object.values(schema)
  .filter((one) => is(one, PgTable))
  .filter(isOfSpaces)
  .toSorted((a, b) => Number(b === schema.events) - Number(a === schema.events));

/** Shards per worker at the first distribution, so that some can be moved to new workers. */
const shardsPerWorker = 2;
/** Least number of shards: with one worker, a second one can take half of them. */
const shardsMin = 4;

/** Whether a table can be distributed by space. Citus does not distribute tables with a foreign key to a local table. */
function isOfSpaces(table: PgTable): boolean {
  if (table === schema.events) return true;
  if (ofCoordinator.includes(table)) return false;
  const { primaryKeys, foreignKeys } = getTableConfig(table);
  return foreignKeys.length === 0 && primaryKeys[0]?.columns[0]?.name === spaceColumn;
}

/**
 * Distributes the tables that are not distributed yet. Existing rows are moved to the workers; meanwhile the table rejects
 * writes.
 *
 * @param database of one connection without a statement timeout, to the coordinator.
 * @param shards how many, when the first table is distributed; default: two for each worker, at least four.
 * @returns the tables that were distributed now.
 * @throws ConfigError when the server is not the coordinator of a Citus cluster.
 */
export async function distributeTables(database: Database, shards?: number): Promise<string[]> {
  const workers = await countWorkers(database);
  const shardCount = shards ?? Math.max(shardsMin, shardsPerWorker * workers);
  const distributed: string[] = [];
  const [first] = distributedTables;
  for (const table of distributedTables) {
    const name = getTableName(table);
    const [found] = await database.execute(sql`
      SELECT FROM pg_dist_partition WHERE logicalrelid = to_regclass(${name})`);
    if (found !== undefined) continue;
    const placement =
      table === first
        ? sql`colocate_with => 'none', shard_count => ${shardCount}`
        : sql`colocate_with => ${getTableName(first ?? table)}`;
    await database.execute(sql`SELECT create_distributed_table(${name}, ${spaceColumn}, ${placement})`);
    distributed.push(name);
  }
  return distributed;
}

/**
 * Allows CREATE FUNCTION after DDL on distributed tables in one transaction, which Citus rejects by default. No effect
 * without Citus.
 *
 * @param database of one connection.
 */
export async function changeShardsInSequence(database: Database): Promise<void> {
  await database.execute(sql`
    SELECT set_config('citus.multi_shard_modify_mode', 'sequential', false) FROM pg_extension WHERE extname = 'citus'`);
}

/** Whether the tables are distributed. */
export async function isDistributed(database: Database): Promise<boolean> {
  if (!(await hasCitus(database))) return false;
  const [first] = distributedTables;
  const rows = await database.execute(sql`
    SELECT FROM pg_dist_partition WHERE logicalrelid = to_regclass(${getTableName(first ?? schema.events)})`);
  return rows.length > 0;
}

/** Whether the database has Citus. */
export async function hasCitus(database: Database): Promise<boolean> {
  const rows = await database.execute(sql`SELECT FROM pg_extension WHERE extname = 'citus'`);
  return rows.length > 0;
}

async function countWorkers(database: Database): Promise<number> {
  if (!(await hasCitus(database)))
    throw new ConfigError(
      'The database does not have the Citus extension: run CREATE EXTENSION citus on every node.',
    );
  const [row] = await database.execute<{ workers: number }>(sql`
    SELECT count(*)::integer AS workers FROM pg_dist_node
    WHERE noderole = 'primary' AND isactive AND shouldhaveshards`);
  if (row === undefined || row.workers === 0) {
    throw new ConfigError(
      'No node of the Citus cluster takes shards: add the workers with citus_add_node on the coordinator first.',
    );
  }
  return row.workers;
}
