import { sql } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import type { Database } from '../../../store/db/database.ts';
import {
  type ClusterNode,
  listNodes,
  nameOfNode,
  runOnNode,
} from '../../../store/db/layout/cluster-nodes.ts';
import { rewrittenEventsMax } from '../../../store/retention/limits.ts';
import {
  copyWhenUnseen,
  type Holder,
  selectHolder,
  type WritersWait,
} from '../../../store/retention/older-snapshots.ts';
import { vacuumLockTimeoutMs } from '../limits.ts';

/** The catalog in which the planner keeps sampled column values. */
export const statisticsTable = 'pg_statistic';

/** Tables whose files were rewritten or may still contain erased data in free space of their pages. */
export interface RewrittenFiles {
  readonly rewritten: readonly string[];
  readonly left: readonly string[];
}

interface Shard {
  readonly name: string;
  readonly node: ClusterNode;
}

/**
 * Writes the shards of a table with data of a space into new files, or all nodes' planner statistics.
 * @param table a distributed table, a shard of a partition of segments (then also the shard with its events),
 * or `pg_statistic`.
 */
export async function rewriteOnCluster(
  database: Database,
  spaceId: string,
  { table, wait }: { table: string; wait: WritersWait },
): Promise<RewrittenFiles> {
  const rewritten: string[] = [];
  const left: string[] = [];
  if (table === statisticsTable) {
    for (const node of await listNodes(database))
      ((await rewriteStatistics(database, node, wait)) ? rewritten : left).push(
        `${table} on ${nameOfNode(node)}`,
      );
    return { rewritten, left };
  }
  for (const shard of await findShards(database, spaceId, table))
    ((await rewriteShard(database, shard, wait)) ? rewritten : left).push(
      `${shard.name} on ${nameOfNode(shard.node)}`,
    );
  return { rewritten, left };
}

/** Drops old copies that moves of shards left on their former nodes. @returns what could not be dropped. */
export async function dropMovedShards(database: Database): Promise<string[]> {
  const list = async () => [
    ...(await database.execute<{ name: string }>(sql`
      SELECT format('%s on %s:%s', object_name, nodename, nodeport) AS name
      FROM pg_dist_cleanup JOIN pg_dist_node ON groupid = node_group_id AND noderole = 'primary'`)),
  ];
  if ((await list()).length > 0) await database.execute(sql`CALL citus_cleanup_orphaned_resources()`);
  return (await list()).map(({ name }) => name);
}

/** @param table a distributed table, or a shard of segments: then also the shard with its events. */
async function findShards(database: Database, spaceId: string, table: string): Promise<Shard[]> {
  const [, partition, shardId] = /^segments(_.*)_(\d+)$/.exec(table) ?? [];
  const rows =
    partition === undefined
      ? await database.execute<{ name: string; host: string; port: number }>(sql`
          SELECT shard_name AS name, nodename AS host, nodeport AS port FROM citus_shards
          WHERE shardid = get_shard_id_for_distribution_column(${table}::regclass, ${spaceId}::uuid)`)
      : await database.execute<{ name: string; host: string; port: number }>(sql`
          SELECT shard_name AS name, nodename AS host, nodeport AS port FROM pg_dist_shard AS given
          JOIN pg_dist_shard AS own USING (shardminvalue)
          JOIN citus_shards ON citus_shards.shardid = own.shardid
          WHERE given.shardid = ${shardId}::bigint
            AND own.logicalrelid IN (to_regclass(${`segments${partition}`}), to_regclass(${`events${partition}`}))`);
  return rows.map(({ name, host, port }) => ({ name, node: { host, port } }));
}

/**
 * Writes the rows of a shard into new files, while statements of its space wait.
 * @returns false with too many rows, other locks, or an older transaction that may still see deleted rows.
 */
async function rewriteShard(database: Database, { name, node }: Shard, wait: WritersWait): Promise<boolean> {
  await runOnNode(database, node, `ANALYZE ${name}`);
  const rows = await runOnNode(
    database,
    node,
    `SELECT reltuples::bigint::text FROM pg_class WHERE oid = '${name}'::regclass`,
  );
  if (Number(rows) > rewrittenEventsMax) return false;
  return whenUnseen(database, { node, wait, isCatalog: false }, async () => {
    await runOnNode(database, node, rewriteCommand(name));
    return true;
  });
}

/** VACUUM FULL cannot have a lock time-out on a worker. CLUSTER writes new files, too. */
function rewriteCommand(shard: string): string {
  return `DO $$
DECLARE ordering text;
BEGIN
  SET LOCAL lock_timeout = '${vacuumLockTimeoutMs}ms';
  SELECT indexrelid::regclass::text INTO ordering FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_am ON pg_am.oid = relam
  WHERE indrelid = '${shard}'::regclass AND amname = 'btree' AND indisvalid AND indpred IS NULL
  ORDER BY indisprimary DESC, indexrelid LIMIT 1;
  EXECUTE format('CLUSTER %s USING %s', '${shard}', ordering);
  ${forgetSamples} WHERE (schemaname, tablename) =
    (SELECT relnamespace::regnamespace::text, relname FROM pg_class WHERE oid = '${shard}'::regclass);
  EXECUTE 'ANALYZE ${shard}';
END $$`;
}

/** ANALYZE leaves the samples of a table that has no rows any more. */
const forgetSamples =
  'PERFORM pg_clear_attribute_stats(schemaname::text, tablename::text, attname::text, inherited) FROM pg_stats';

/** Samples of a partitioned table are of all its partitions. */
const analyzeParents = `DO $$
DECLARE names text[];
DECLARE name text;
BEGIN
  SELECT array_agg(DISTINCT format('%I.%I', schemaname, tablename)) INTO names
  FROM pg_stats WHERE inherited AND schemaname = current_schema();
  ${forgetSamples} WHERE inherited AND schemaname = current_schema();
  FOREACH name IN ARRAY coalesce(names, '{}') LOOP EXECUTE 'ANALYZE ' || name; END LOOP;
END $$`;

/** A shard may have been on another node before, so the samples of its values are on all of them. */
async function rewriteStatistics(database: Database, node: ClusterNode, wait: WritersWait): Promise<boolean> {
  const readFile = () =>
    runOnNode(database, node, `SELECT pg_relation_filenode('${statisticsTable}'::regclass)::text`);
  await runOnNode(database, node, analyzeParents);
  const before = await readFile();
  return whenUnseen(database, { node, wait, isCatalog: true }, async () => {
    await runOnNode(database, node, `VACUUM (FULL, ANALYZE) ${statisticsTable}`);
    // Postgres only warns when the user lacks the permission, so the file is compared.
    return (await readFile()) !== before;
  });
}

/** Copies as copyWhenUnseen does, when nothing on the node keeps rows that were deleted before the call. */
async function whenUnseen(
  database: Database,
  { node, wait, ...table }: { node: ClusterNode; wait: WritersWait; isCatalog: boolean },
  attempt: () => Promise<boolean>,
): Promise<boolean> {
  const xid = await runOnNode(database, node, 'SELECT pg_snapshot_xmax(pg_current_snapshot())::text');
  const { sql: query } = new PgDialect().sqlToQuery(selectHolder(xid, table));
  const find = async (): Promise<Holder> => {
    const holder = await runOnNode(database, node, query);
    return holder === 'nothing' || holder === 'writer' ? holder : 'reader';
  };
  const tryOnce = async () => {
    try {
      return await attempt();
    } catch (error) {
      if (error instanceof Error && /lock timeout|deadlock/.test(error.message)) return false;
      throw error;
    }
  };
  return copyWhenUnseen(find, tryOnce, wait);
}
