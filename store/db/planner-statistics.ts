import { getTableName, type SQL, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Database } from './database.ts';
import { hasCitus } from './layout/distribution.ts';
import { ddlLockTimeoutMs } from './limits.ts';
import { events, segments } from './schema.ts';
import { nameOf, numberOf } from './statement.ts';

/**
 * Constant planner statistics for the columns that decide the choice of an index, in each partition of events and segments,
 * independent of ANALYZE. Without statistics, or with those of a week that had few rows when it was analyzed, lists used
 * the wrong index for seconds (ADR 0018).
 */

/** Arguments of pg_restore_attribute_stats. */
interface ColumnStatistics {
  readonly widthBytes: number;
  /** Distinct values; negative for a share of the rows. */
  readonly distinct: number;
  readonly more?: SQL;
}

/**
 * The planner assumes that a space has a tenth of the events: with a smaller share it would fetch and sort all events of the
 * space instead of reading them in index order or by segment. It assumes a smaller share of the segments: with a larger one
 * it would scan whole partitions for a small space. The share of a space exceeds that of a term, so that lists use the
 * index on terms.
 */
const eventsOfSpace: ColumnStatistics = { widthBytes: 16, distinct: 10, more: inOrder() };
const segmentsOfSpace: ColumnStatistics = { widthBytes: 16, distinct: 30 };

/**
 * The share of segments with a term, as the planner assumes it. So small that the thirty terms of a page of users are rarer together than
 * a space: otherwise Postgres also reads the index entries of all segments of the space, to intersect both.
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
      // No term has the value 0, and every other term is assumed to be rarer, so that the index on terms is used for all.
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

/** Rows are stored (nearly) in the order of the index. */
function inOrder(): SQL {
  return sql`'correlation', 1::real`;
}

/**
 * Sets the statistics of each partition that does not have them yet, or has those of version 0.1.0. Does nothing on Citus, where each shard has its own statistics.
 *
 * @throws at a lock time-out. Call again later.
 */
export async function setPlannerStatistics(database: Database): Promise<void> {
  if (await hasCitus(database)) return;
  for (const table of statistics.keys()) {
    for (const partition of await listPartitions(database, table, lacksStatistics)) {
      await database.execute(runAll(statisticsOf(table, partition)));
    }
  }
}

const lacksStatistics = sql`(attstattarget IS DISTINCT FROM 0 OR EXISTS (
  SELECT FROM pg_stats WHERE schemaname = current_schema() AND tablename = relname AND attname = ${segments.terms.name}
    AND most_common_elem_freqs[1] <> ${numberOf(termFrequency)}::real))`;

/** Returns the statistics of all partitions to ANALYZE: shards inherit the columns' targets, but not the statistics. */
export async function releasePlannerStatistics(database: Database): Promise<void> {
  for (const [table, columns] of statistics) {
    for (const partition of await listPartitions(database, table, sql`attstattarget = 0`)) {
      await database.execute(runAll([setTargets(partition, columns, sql`DEFAULT`)]));
    }
  }
}

/** The partitions whose column of spaces has such a statistics target. */
async function listPartitions(database: Database, table: PgTable, hasTarget: SQL): Promise<string[]> {
  const rows = await database.execute<{ name: string }>(sql`
    SELECT relname AS name FROM pg_inherits JOIN pg_class ON oid = inhrelid
      JOIN pg_attribute ON attrelid = oid AND attname = ${events.spaceId.name}
    WHERE inhparent = ${getTableName(table)}::regclass AND ${hasTarget}`);
  return rows.map(({ name }) => name);
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

/** PL/pgSQL statements that set the statistics of a partition and disable ANALYZE for these columns. */
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
