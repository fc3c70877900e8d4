import { getTableName, is, sql } from 'drizzle-orm';
import { getTableConfig, PgTable } from 'drizzle-orm/pg-core';
import { ConfigError } from '../../../platform/config/config-error.ts';
import type { Database, Transaction } from '../database.ts';
import * as schema from '../schema.ts';

/**
 * The distribution of tables over a Citus cluster (docs/cluster.md). Tables whose primary key begins with the
 * space are distributed by it, so that all rows of a space are on one worker. The others are local to the
 * coordinator: they are small, have foreign keys to each other, and their triggers must notify on the server
 * that ingest listens to.
 */

const spaceColumn = schema.events.spaceId.name;

/**
 * Local to the coordinator although the key begins with the space: they have few rows, and the audit log has
 * a trigger and is written with tables of the coordinator, also while a worker is away. Weir 0.1 distributed
 * the audit log.
 */
const ofCoordinator: readonly PgTable[] = [
  schema.erasures,
  schema.erasureRequests,
  schema.auditLog,
  schema.deletedSpaces,
];

/** The distributed tables. All others are colocated with the first one. */
export const distributedTables: readonly PgTable[] = Object.values(schema)
  .filter((one) => is(one, PgTable))
  .filter(isOfSpaces)
  .toSorted((a, b) => Number(b === schema.events) - Number(a === schema.events));

/** Shards per worker at the first distribution, so that some can be moved to new workers. */
const shardsPerWorker = 2;
/** Least number of shards: with one worker, a second one can take half of them. */
const shardsMin = 4;

/**
 * Whether a table can be distributed by space. Citus does not distribute tables with a foreign key to a local
 * table.
 */
function isOfSpaces(table: PgTable): boolean {
  if (table === schema.events) return true;
  if (ofCoordinator.includes(table)) return false;
  const { primaryKeys, foreignKeys } = getTableConfig(table);
  return foreignKeys.length === 0 && primaryKeys[0]?.columns[0]?.name === spaceColumn;
}

/**
 * Distributes the tables that are not distributed yet, and makes those local again that should no longer be
 * distributed. Existing rows are moved; meanwhile the table rejects writes.
 * @param database of one connection without a statement timeout, to the coordinator.
 * @param shards how many, when the first table is distributed; default: two for each worker, at least four.
 * @returns the tables that were distributed now.
 * @throws ConfigError when the server is not the coordinator of a Citus cluster.
 */
export async function distributeTables(database: Database, shards?: number): Promise<string[]> {
  const workers = await countWorkers(database);
  const shardCount = shards ?? Math.max(shardsMin, shardsPerWorker * workers);
  for (const table of ofCoordinator.map(getTableName)) {
    const [found] = await database.execute(sql`
      SELECT FROM pg_dist_partition WHERE logicalrelid = to_regclass(${table}) AND partmethod = 'h'`);
    if (found !== undefined) await database.execute(sql`SELECT undistribute_table(${table})`);
  }
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
  await identifyRows(database);
  return distributed;
}

/**
 * Sets the replica identity of the tables and partitions without a primary key, which Citus needs to move
 * shards while events are stored. It adds the old row to the WAL of each UPDATE and DELETE, and nothing to
 * that of an INSERT.
 */
export async function identifyRows(database: Database): Promise<void> {
  const found = await database.execute<{ name: string }>(sql`
    SELECT relation.oid::regclass::text AS name
    FROM pg_dist_partition JOIN pg_class AS relation ON relation.oid = logicalrelid
    WHERE relation.relreplident = 'd'
      AND NOT EXISTS (SELECT FROM pg_index WHERE indrelid = relation.oid AND indisprimary)`);
  for (const { name } of found)
    await database.execute(sql`ALTER TABLE ${sql.raw(name)} REPLICA IDENTITY FULL`);
}

/**
 * Allows CREATE FUNCTION after DDL on distributed tables in one transaction, which Citus rejects by default.
 * No effect without Citus.
 * @param database of one connection.
 */
export async function changeShardsInSequence(database: Database): Promise<void> {
  await database.execute(sql`
    SELECT set_config('citus.multi_shard_modify_mode', 'sequential', false) FROM pg_extension WHERE extname = 'citus'`);
}

/** Whether the tables are distributed. */
export async function isDistributed(database: Database | Transaction): Promise<boolean> {
  if (!(await hasCitus(database))) return false;
  const [first] = distributedTables;
  const rows = await database.execute(sql`
    SELECT FROM pg_dist_partition WHERE logicalrelid = to_regclass(${getTableName(first ?? schema.events)})`);
  return rows.length > 0;
}

export async function hasCitus(database: Database | Transaction): Promise<boolean> {
  const rows = await database.execute(sql`SELECT FROM pg_extension WHERE extname = 'citus'`);
  return rows.length > 0;
}

/** @throws ConfigError when the server is a worker of a Citus cluster. */
export async function refuseWorker(database: Database): Promise<void> {
  if (!(await hasCitus(database))) return;
  const [row] = await database.execute<{ groupId: number; coordinator: string | null }>(sql`
    SELECT groupid AS "groupId", (SELECT nodename || ':' || nodeport FROM pg_dist_node WHERE groupid = 0 LIMIT 1) AS coordinator
    FROM pg_dist_local_group`);
  if (row === undefined || row.groupId === 0) return;
  throw new ConfigError(
    `DATABASE_URL names a worker of the Citus cluster. Use the coordinator's address: ${row.coordinator ?? 'it has group 0 in pg_dist_node'}.`,
  );
}

/**
 * What is wrong with the distribution of a migrated database; undefined when nothing is. A coordinator with
 * workers whose tables are not distributed stores everything itself.
 */
export async function findUndistributed(database: Database): Promise<string | undefined> {
  if (!(await hasCitus(database)) || (await isDistributed(database))) return undefined;
  const workers = await countShardNodes(database);
  if (workers === 0) return undefined;
  return `The database is the coordinator of a Citus cluster of ${workers} workers, but its tables are not distributed: all data goes to the coordinator. Run \`weir migrate --citus\`.`;
}

async function countWorkers(database: Database): Promise<number> {
  if (!(await hasCitus(database)))
    throw new ConfigError(
      'The database does not have the Citus extension: run CREATE EXTENSION citus on every node.',
    );
  const workers = await countShardNodes(database);
  if (workers === 0) {
    throw new ConfigError(
      'No node of the Citus cluster takes shards: add the workers with citus_add_node on the coordinator first.',
    );
  }
  return workers;
}

async function countShardNodes(database: Database): Promise<number> {
  const [row] = await database.execute<{ nodes: number }>(sql`
    SELECT count(*)::integer AS nodes FROM pg_dist_node
    WHERE noderole = 'primary' AND isactive AND shouldhaveshards`);
  return row?.nodes ?? 0;
}
