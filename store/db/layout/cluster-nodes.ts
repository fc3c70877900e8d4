import { getTableName, type SQL, sql } from 'drizzle-orm';
import { PgDialect, type PgTable } from 'drizzle-orm/pg-core';
import type { Database, Transaction } from '../database.ts';
import { events } from '../schema.ts';

/** A node of a Citus cluster. */
export interface ClusterNode {
  readonly host: string;
  readonly port: number;
}

export const nameOfNode = ({ host, port }: ClusterNode): string => `${host}:${port}`;

/** All nodes of the cluster that are used, also the coordinator. */
export async function listNodes(database: Database | Transaction): Promise<ClusterNode[]> {
  return [
    ...(await database.execute<{ host: string; port: number }>(sql`
      SELECT nodename AS host, nodeport AS port FROM pg_dist_node
      WHERE isactive AND noderole = 'primary' ORDER BY groupid`)),
  ];
}

/**
 * Runs one statement on a node, in a transaction of its own, unless the statement cannot run in one.
 * @returns the first column of its first row, as text, or the tag of a command.
 * @throws Error with the message of the node.
 */
export async function runOnNode(
  database: Database | Transaction,
  node: ClusterNode,
  command: string,
): Promise<string> {
  const { host, port } = node;
  const [row] = await database.execute<{ success: boolean; result: string }>(sql`
    SELECT success, result FROM master_run_on_worker(ARRAY[${host}::text], ARRAY[${port}::integer], ARRAY[${command}::text], false)`);
  if (row?.success === true) return row.result;
  throw new Error(`${nameOfNode(node)}: ${row?.result ?? 'no answer'}`);
}

/** The node of each space, as `host:port`. A space has none while its shard is being moved. */
export async function readPlacements(
  database: Database,
  spaceIds: Iterable<string>,
): Promise<ReadonlyMap<string, string>> {
  const rows = await database.execute<{ spaceId: string; node: string }>(sql`
    SELECT space.id::text AS "spaceId", nodename || ':' || nodeport AS node
    FROM unnest(${`{${[...new Set(spaceIds)].join()}}`}::uuid[]) AS space(id)
    JOIN pg_dist_placement ON shardid = get_shard_id_for_distribution_column(${getTableName(events)}::regclass, space.id)
    JOIN pg_dist_node USING (groupid)
    WHERE noderole = 'primary'`);
  return new Map(rows.map(({ spaceId, node }) => [spaceId, node]));
}

/** The spaces with rows in a shard of a table. */
export interface SpacesOfShard {
  readonly shard: string;
  readonly spaceIds: readonly string[];
}

/**
 * For each node with shards of a table, what lists their spaces, and fails while the node is away: each waits
 * for one node only.
 *
 * @param where the condition on the rows, without the name of the table.
 */
export async function listShardsByNode(
  database: Database,
  table: PgTable,
  where = sql`true`,
): Promise<(() => Promise<SpacesOfShard[]>)[]> {
  const shards = await database.execute<{ host: string; port: number; shard: string; name: string }>(sql`
    SELECT nodename AS host, nodeport AS port, shardid::text AS shard, shard_name(logicalrelid, shardid) AS name
    FROM pg_dist_shard JOIN pg_dist_placement USING (shardid) JOIN pg_dist_node USING (groupid)
    WHERE logicalrelid = ${getTableName(table)}::regclass AND noderole = 'primary'`);
  const spaceId = sql.identifier(events.spaceId.name);
  return [...Map.groupBy(shards, nameOfNode).values()].map((own) => async () => {
    const each = own.map(
      ({ shard, name }) => sql`
        SELECT ${shard} AS shard, json_agg(DISTINCT ${spaceId}) AS "spaceIds" FROM ${sql.raw(name)} WHERE ${where} HAVING count(*) > 0`,
    );
    const all = sql`SELECT coalesce(json_agg(found), '[]')::text FROM (${sql.join(each, sql` UNION ALL `)}) AS found`;
    const [node = { host: '', port: 0 }] = own;
    return JSON.parse(await runOnNode(database, node, textOf(all))) as SpacesOfShard[];
  });
}

/** The text of a statement, with its values as literals. */
export function textOf(statement: SQL): string {
  return new PgDialect().sqlToQuery(statement.inlineParams()).sql;
}
