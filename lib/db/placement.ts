import { getTableName, sql } from 'drizzle-orm';
import type { Database } from './database.ts';
import { isDistributed } from './distribution.ts';
import { events } from './schema.ts';

/**
 * Finds where the rows of spaces are in a Citus cluster.
 *
 * @returns the node of each space, as `host:port`; undefined when the tables are not distributed. A space has no node while its
 * shard is being moved.
 */
export async function readPlacements(
  database: Database,
  spaceIds: Iterable<string>,
): Promise<ReadonlyMap<string, string> | undefined> {
  if (!(await isDistributed(database))) return undefined;
  const rows = await database.execute<{ spaceId: string; node: string }>(sql`
    SELECT space.id::text AS "spaceId", nodename || ':' || nodeport AS node
    FROM unnest(${`{${[...new Set(spaceIds)].join()}}`}::uuid[]) AS space(id)
    JOIN pg_dist_placement ON shardid = get_shard_id_for_distribution_column(${getTableName(events)}::regclass, space.id)
    JOIN pg_dist_node USING (groupid)
    WHERE noderole = 'primary'`);
  return new Map(rows.map(({ spaceId, node }) => [spaceId, node]));
}
