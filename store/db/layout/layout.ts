import { getTableName, type SQL, sql } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { Sql } from '../connect.ts';
import type { Database, Transaction } from '../database.ts';
import { listNodes, nameOfNode, readPlacements, runOnNode, textOf } from './cluster-nodes.ts';
import { identifyRows, isDistributed } from './distribution.ts';

/** A server that stores rows of spaces. */
export interface Server {
  /** Empty on one Postgres, `host:port` in a cluster. */
  readonly name: string;
  /** Runs a statement that needs no other server. @returns the first column of its first row, as text. */
  run(statement: SQL): Promise<string>;
}

/** Where the rows of spaces are: on one Postgres, or divided among the nodes of a Citus cluster. */
export interface Layout {
  readonly isCluster: boolean;
  listServers(database: Database | Transaction): Promise<Server[]>;
  /** A query of the names under which a server that runs it has the partitions of a table. */
  selectPartitions(table: PgTable): SQL;
  /** The name of the server with the rows of each space; undefined when there is one for all. */
  readPlacements(
    database: Database,
    spaceIds: Iterable<string>,
  ): Promise<ReadonlyMap<string, string> | undefined>;
  /** Completes partitions that were made. */
  finishPartitions(database: Database): Promise<void>;
  /** The bytes of a table with its indexes and TOAST. */
  sizeOf(table: string): SQL;
}

const layouts = new WeakMap<Sql, Promise<Layout>>();

/**
 * The layout of a database, which is read once for each pool: services are restarted after `weir migrate
 * --citus`.
 * @throws the driver's error while Postgres is away. Call again later.
 */
export function layoutOf(database: Database): Promise<Layout> {
  const { $client: client } = database;
  const known = layouts.get(client);
  if (known !== undefined) return known;
  const read = isDistributed(database).then((isCluster) => (isCluster ? citus : onePostgres));
  layouts.set(client, read);
  read.catch(() => layouts.delete(client));
  return read;
}

const onePostgres: Layout = {
  isCluster: false,
  listServers: async (database) => [
    {
      name: '',
      async run(statement) {
        const [row] = await database.execute<Record<string, unknown>>(statement);
        return String(Object.values(row ?? {})[0] ?? '');
      },
    },
  ],
  selectPartitions: (table) => sql`
    SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = ${getTableName(table)}::regclass`,
  readPlacements: async () => undefined,
  finishPartitions: async () => {},
  sizeOf: (table) => sql`pg_total_relation_size(${table}::regclass)`,
};

const citus: Layout = {
  isCluster: true,
  listServers: async (database) =>
    (await listNodes(database)).map((node) => ({
      name: nameOfNode(node),
      run: (statement) => runOnNode(database, node, textOf(statement)),
    })),
  selectPartitions: (table) => sql`
    SELECT shard_name(logicalrelid, shardid) FROM pg_inherits JOIN pg_dist_shard ON logicalrelid = inhrelid
    JOIN pg_dist_placement USING (shardid) JOIN pg_dist_local_group USING (groupid)
    WHERE inhparent = ${getTableName(table)}::regclass`,
  readPlacements,
  finishPartitions: identifyRows,
  // Its own relation is empty, and Citus refuses to measure a table that is not distributed.
  sizeOf: (
    table,
  ) => sql`CASE WHEN EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = ${table}::regclass)
    THEN citus_total_relation_size(${table}::regclass) ELSE pg_total_relation_size(${table}::regclass) END`,
};
