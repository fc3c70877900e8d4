import { getTableName } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { Sql } from '../../../store/db/connect.ts';
import { distributedTables } from '../../../store/db/layout/distribution.ts';
import {
  agentStats,
  agentStatsRollups,
  eventIds,
  eventStats,
  eventStatsRollups,
  events,
  quarantine,
  segments,
  sliceStats,
  sliceStatsRollups,
  spaceCommits,
} from '../../../store/db/schema.ts';
import type { Figures } from '../measures.ts';

/** The bytes per event of all tables that grow with events, including indexes and TOAST. */
export function measureBytesPerEvent(sql: Sql): Promise<number> {
  return bytesPerEvent(sql, stored);
}

/** The tables that grow with events, and those that keep their rows after events have expired. */
const stored = distributedTables;
const expiring: readonly PgTable[] = [events, segments, spaceCommits, quarantine];
const lasting = stored.filter((table) => !expiring.includes(table));
const statistics = [
  ...[eventStats, agentStats, sliceStats],
  ...[eventStatsRollups, agentStatsRollups, sliceStatsRollups],
];

/** The bytes of a database per event, with indexes and TOAST. */
export async function measureSizes(sql: Sql): Promise<Figures> {
  return {
    bytes: await bytesPerEvent(sql, stored),
    lastingBytes: await bytesPerEvent(sql, lasting),
    ledgerBytes: await bytesPerEvent(sql, [eventIds]),
    statisticsBytes: await bytesPerEvent(sql, statistics),
    eventsPerStatistic: await measureEventsPerRow(sql, eventStats),
    termsBytes: await bytesPerEvent(sql, [], 'segments_by_term'),
  };
}

/** @param index counted in addition to the tables. */
async function bytesPerEvent(sql: Sql, tables: readonly PgTable[], index = ''): Promise<number> {
  const names = [...tables.map(getTableName), index].filter(Boolean);
  const [row] = await sql<{ bytes: number }[]>`
    SELECT sum(pg_total_relation_size(coalesce(relid, to_regclass(name))))::float8
      / (SELECT sum(events) FROM usage_months)::float8 AS bytes
    FROM unnest(string_to_array(${names.join()}, ',')) AS name
    -- A table without partitions has no row.
    LEFT JOIN LATERAL pg_partition_tree(to_regclass(name)) ON true`;
  return row?.bytes ?? Number.NaN;
}

async function measureEventsPerRow(sql: Sql, table: PgTable): Promise<number> {
  const [row] = await sql<
    { events: number }[]
  >`SELECT avg(events)::float8 AS events FROM ${sql(getTableName(table))}`;
  return row?.events ?? Number.NaN;
}
