import { getTableName, type SQL, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Database } from './database.ts';
import { hasCitus } from './distribution.ts';
import { ddlLockTimeoutMs } from './limits.ts';
import { events, segments } from './schema.ts';
import { nameOf, numberOf } from './statement.ts';

/**
 * What the planner of Postgres believes of the columns that choose an index, in each partition of events and segments: the same from the
 * first row on, whatever ANALYZE has seen. Without statistics, and with those of a week that had a few rows when it was analyzed, lists
 * walked the wrong index for seconds (ADR 0018).
 */

/** Arguments of pg_restore_attribute_stats. */
interface ColumnStatistics {
  readonly widthBytes: number;
  /** Distinct values; negative for a share of the rows. */
  readonly distinct: number;
  readonly more?: SQL;
}

/**
 * A space is believed to have a tenth of the events. They are read in the order of an index, or by their segments: with a smaller share all of a
 * space's events would be found and sorted. Of segments it is believed to have less: with a larger share whole partitions would be
 * read for a space that has few. More for a space than for a term, so that the index on terms is used for lists.
 */
const eventsOfSpace: ColumnStatistics = { widthBytes: 16, distinct: 10, more: inOrder() };
const segmentsOfSpace: ColumnStatistics = { widthBytes: 16, distinct: 30 };

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
      // No term has this value, and every other one counts as rarer than it: the index on terms is used for all of them.
      [
        segments.terms,
        {
          widthBytes: 200,
          distinct: -1,
          more: sql`'most_common_elems', '{0}'::text, 'most_common_elem_freqs', '{0.0001,0.0001,0.0001,0}'::real[]`,
        },
      ],
    ],
  ],
]);

/** Rows are stored in the order of the index, or nearly. */
function inOrder(): SQL {
  return sql`'correlation', 1::real`;
}

/**
 * Sets the statistics of each partition that does not have them yet. Does nothing on Citus, where the planner of each shard has its own.
 *
 * @throws when a lock is not to be had in time. Call again later.
 */
export async function setPlannerStatistics(database: Database): Promise<void> {
  if (await hasCitus(database)) return;
  for (const table of statistics.keys()) {
    for (const partition of await listPartitions(database, table, sql`attstattarget IS DISTINCT FROM 0`)) {
      await database.execute(runAll(statisticsOf(table, partition)));
    }
  }
}

/** Leaves the statistics of all partitions to ANALYZE: shards get the settings of the columns, and not the statistics. */
export async function releasePlannerStatistics(database: Database): Promise<void> {
  for (const [table, columns] of statistics) {
    for (const partition of await listPartitions(database, table, sql`attstattarget = 0`)) {
      await database.execute(runAll([setTargets(partition, columns, sql`DEFAULT`)]));
    }
  }
}

/** The partitions whose first column has such a target of statistics. */
async function listPartitions(database: Database, table: PgTable, hasTarget: SQL): Promise<string[]> {
  const rows = await database.execute<{ name: string }>(sql`
    SELECT relname AS name FROM pg_inherits JOIN pg_class ON oid = inhrelid
      JOIN pg_attribute ON attrelid = oid AND attname = ${events.spaceId.name}
    WHERE inhparent = ${getTableName(table)}::regclass AND ${hasTarget}`);
  return rows.map(({ name }) => name);
}

/** Whoever reads or writes the table waits behind DDL that waits for its lock. */
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

/** The statements, as PL/pgSQL, that give a partition its statistics, and keep ANALYZE from others. */
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
