import { type SQL, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Database } from './database.ts';
import { layoutOf } from './layout/layout.ts';
import { ddlLockTimeoutMs } from './limits.ts';
import { events, segments } from './schema.ts';
import { nameOf, numberOf } from './statement.ts';

/**
 * Constant planner statistics for the columns that decide the choice of an index, in each partition: without
 * any, or with those of a week that had few rows, lists used the wrong index for seconds (ADR 0018).
 */

interface ColumnStatistics {
  readonly widthBytes: number;
  /** Distinct values; negative for a share of the rows. */
  readonly distinct: number;
  readonly more?: SQL;
}

/**
 * The planner assumes that a space has a tenth of the events: with less it would sort all of them instead of
 * reading in index order or by segment. A smaller share of the segments: with more it would scan whole
 * partitions for a small space. Both are above a term's, so that lists use the index on terms.
 */
const eventsOfSpace: ColumnStatistics = { widthBytes: 16, distinct: 10, more: inOrder() };
const segmentsOfSpace: ColumnStatistics = { widthBytes: 16, distinct: 30 };

/**
 * The assumed share of a term, so small that the thirty terms of a page of users are rarer together than a
 * space: otherwise Postgres also reads, to intersect, the index entries of all segments of the space.
 */
const termFrequency = 0.000_01;

const uniqueUuid: ColumnStatistics = { widthBytes: 16, distinct: -1, more: inOrder() };
const uniqueTime: ColumnStatistics = { widthBytes: 8, distinct: -1, more: inOrder() };

type ColumnList = readonly (readonly [PgColumn, ColumnStatistics])[];

const statistics = new Map<PgTable, ColumnList>([
  [
    events,
    [
      [events.spaceId, eventsOfSpace],
      [events.id, { widthBytes: 16, distinct: -1 }],
      [events.segmentId, { ...uniqueUuid, distinct: -0.1 }],
      [events.startTimeMs, uniqueTime],
    ],
  ],
  [
    segments,
    [
      [segments.spaceId, segmentsOfSpace],
      [segments.id, uniqueUuid],
      [segments.maxStartMs, uniqueTime],
      // No term is 0; every other term counts as rarer, so that the index on terms is used for all.
      [
        segments.terms,
        {
          widthBytes: 200,
          distinct: -1,
          more: sql`'most_common_elems', '{0}'::text, 'most_common_elem_freqs', array_replace('{1,1,1,0}'::real[], 1, ${numberOf(termFrequency)}::real)`,
        },
      ],
    ],
  ],
]);

/** (Nearly) stored in the order of the index. */
function inOrder(): SQL {
  return sql`'correlation', 1::real`;
}

/**
 * Sets the statistics of partitions without them, or with those of version 0.1.0; on Citus of each shard,
 * which loses its own when it is moved.
 * @throws the first failure, such as a lock time-out or a node that is away, after all others were tried.
 */
export async function setPlannerStatistics(database: Database): Promise<void> {
  const layout = await layoutOf(database);
  const failures: unknown[] = [];
  for (const server of await layout.listServers(database)) {
    try {
      for (const table of statistics.keys()) {
        // A JSON array of texts.
        const names = JSON.parse(await server.run(lacking(layout.selectPartitions(table)))) as string[];
        for (const name of names) await server.run(runAll(statisticsOf(table, name)));
      }
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

/** Names, as a JSON array, of those partitions whose statistics are not set. */
function lacking(partitions: SQL): SQL {
  const ofPartition = sql`schemaname = current_schema() AND tablename = partition.name`;
  return sql`
    SELECT coalesce(json_agg(partition.name), '[]')::text AS names FROM (${partitions}) AS partition(name)
    JOIN pg_attribute ON attrelid = to_regclass(partition.name) AND attname = ${events.spaceId.name}
    WHERE attstattarget IS DISTINCT FROM 0
      OR NOT EXISTS (SELECT FROM pg_stats WHERE ${ofPartition} AND attname = ${events.spaceId.name})
      OR EXISTS (SELECT FROM pg_stats WHERE ${ofPartition} AND attname = ${segments.terms.name}
        AND most_common_elem_freqs[1] <> ${numberOf(termFrequency)}::real)`;
}

/** Runs statements with a lock time-out, because reads and writes of the table queue behind waiting DDL. */
function runAll(statements: readonly SQL[]): SQL {
  return sql`DO $$ BEGIN
  SET LOCAL lock_timeout = '${numberOf(ddlLockTimeoutMs)}ms';
  ${sql.join([...statements], sql`; `)};
END $$`;
}

function setTargets(partition: string, columns: ColumnList, target: SQL): SQL {
  const actions = columns.map(([column]) => sql`ALTER COLUMN ${nameOf(column)} SET STATISTICS ${target}`);
  return sql`ALTER TABLE ${sql.identifier(partition)} ${sql.join(actions, sql`, `)}`;
}

/** PL/pgSQL that sets the statistics of a partition and disables ANALYZE for these columns. */
export function statisticsOf(table: PgTable, partition: string): SQL[] {
  const columns = statistics.get(table) ?? [];
  const literal = (name: string) => sql.raw(`'${name}'`);
  return [
    setTargets(partition, columns, sql`0`),
    ...columns.flatMap(([column, { widthBytes, distinct, more }]) => {
      const [relation, attribute] = [literal(partition), literal(column.name)];
      return [
        sql`PERFORM pg_clear_attribute_stats(current_schema()::text, ${relation}, ${attribute}, false)`,
        sql`PERFORM pg_restore_attribute_stats('schemaname', current_schema()::text, 'relname', ${relation},
          'attname', ${attribute}, 'inherited', false, 'null_frac', 0::real, 'avg_width', ${numberOf(widthBytes)},
          'n_distinct', (${numberOf(distinct)})::real${more === undefined ? sql`` : sql`, ${more}`})`,
      ];
    }),
  ];
}
