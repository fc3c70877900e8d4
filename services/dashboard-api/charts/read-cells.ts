import { and, eq, gte, lt, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Database } from '../../../lib/db/database.ts';
import { agentStats, agentStatsRollups, eventStats, eventStatsRollups } from '../../../lib/db/schema.ts';
import { listOf, nameOf } from '../../../lib/db/statement.ts';
import { countBits } from '../../../lib/event/latency.ts';
import { coverBuckets, type StatRange } from './stat-ranges.ts';

/** What a chart is split by. */
export type ChartGroup = 'none' | 'type' | 'model' | 'tool' | 'source' | 'agent';

/** Which events a chart counts. Statistics by agent know nothing else of an event. */
export interface ChartFilter {
  type?: 'llm' | 'tool' | undefined;
  name?: string | undefined;
  source?: string | undefined;
  agentId?: string | undefined;
}

export interface CellQuery {
  readonly boundaries: readonly number[];
  readonly group: ChartGroup;
  readonly filter: ChartFilter;
  /** The groups with the most events; all others are one group together. */
  readonly groupsMax: number;
  /** Whether the sketches of durations are read: they are most of the work. */
  readonly withDurations: boolean;
}

/** The sums of one bucket and one group. */
export interface Cell extends Sums {
  bucket: number;
  /** The place of the group among those with the most events, from 1; 0 stands for all others. */
  rank: number;
  /** The name of the group; null for all others. */
  group: string | null;
  /** The merged sketch of the durations, as lib/event/latency.ts has it. */
  latency: number[];
}

/** Sums of tokens are whole numbers up to 2^53, exactly, where clients send whole numbers. */
export interface Sums {
  events: number;
  errors: number;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  reasoningTokens: number;
}

const summed = {
  events: eventStats.events,
  errors: eventStats.errors,
  inputTokens: eventStats.inputTokens,
  outputTokens: eventStats.outputTokens,
  cacheReadTokens: eventStats.cacheReadTokens,
  cacheWriteTokens: eventStats.cacheWriteTokens,
  reasoningTokens: eventStats.reasoningTokens,
} as const satisfies Record<keyof Sums, PgColumn>;

/** Reads the sums of a chart, from statistics: the work depends on the number of buckets and groups, not on that of events. */
export async function readCells(database: Database, spaceId: string, query: CellQuery): Promise<Cell[]> {
  const { groupsMax, withDurations } = query;
  const sums = Object.values(summed);
  const bits = sql.raw(String(countBits));
  const rows = await database.execute<Record<string, string | number | null>>(sql`
WITH cells AS MATERIALIZED (${sql.join(selectSpans(spaceId, query), sql` UNION ALL `)}
), ranked AS (
  SELECT grouped, row_number() OVER (ORDER BY sum(${nameOf(summed.events)}) DESC, grouped)::integer AS rank
  FROM cells GROUP BY grouped
), placed AS MATERIALIZED (
  SELECT cells.*, CASE WHEN rank <= ${groupsMax} THEN rank ELSE 0 END AS place
  FROM cells JOIN ranked USING (grouped)
), sketches AS (
  SELECT bucket, place, array_agg(number << ${bits} | counted ORDER BY number) AS latency
  FROM (
    SELECT bucket, place, element >> ${bits} AS number, sum(element & ${sql.raw(String(2 ** countBits - 1))})::bigint AS counted
    FROM placed CROSS JOIN unnest(${nameOf(eventStats.latency)}) AS element
    WHERE ${withDurations} GROUP BY bucket, place, number
  ) AS merged GROUP BY bucket, place
), totals AS (
  SELECT bucket, place, min(grouped) AS grouped,
    ${listOf(sums.map((column) => sql`coalesce(sum(${nameOf(column)}), 0)::float8 AS ${nameOf(column)}`))}
  FROM placed GROUP BY bucket, place
)
SELECT totals.*, sketches.latency FROM totals LEFT JOIN sketches USING (bucket, place) ORDER BY bucket, place`);
  return rows.map(toCell);
}

function toCell(row: Record<string, string | number | null>): Cell {
  const rank = Number(row.place);
  const sums = Object.entries(summed).map(([name, column]) => [name, Number(row[column.name])]);
  const latency = String(row.latency ?? '{}').slice(1, -1);
  return {
    ...(Object.fromEntries(sums) as Record<keyof Sums, number>),
    bucket: Number(row.bucket),
    rank,
    group: rank === 0 ? null : String(row.grouped),
    latency: latency === '' ? [] : latency.split(',').map(Number),
  };
}

/** A part of the union for minutes, and one for each roll-up that is used. */
function selectSpans(spaceId: string, { boundaries, group, filter }: CellQuery): SQL[] {
  const ranges = Map.groupBy(coverBuckets(boundaries), ({ spanHours }) => spanHours);
  const byAgent = group === 'agent' || filter.agentId !== undefined;
  return [...ranges].map(([spanHours, own]) => {
    const table = byAgent
      ? spanHours === 0
        ? agentStats
        : agentStatsRollups
      : spanHours === 0
        ? eventStats
        : eventStatsRollups;
    const place = 'minute' in table ? table.minute : table.startHour;
    const isSpan = 'spanHours' in table ? eq(table.spanHours, spanHours) : undefined;
    return sql`
  SELECT range.bucket, stats.* FROM ${unnestRanges(own)} CROSS JOIN LATERAL (
    SELECT ${groupOf(table, group)} AS grouped, ${listOf([...Object.values(summed), eventStats.latency].map(nameOf))}
    FROM ${table}
    WHERE ${and(
      eq(table.spaceId, spaceId),
      isSpan,
      gte(place, sql`range.first`),
      lt(place, sql`range.last`),
      ...conditions(table, group, filter),
    )}
  ) AS stats`;
  });
}

function unnestRanges(ranges: readonly StatRange[]): SQL {
  const list = (pick: (range: StatRange) => number) => `{${ranges.map(pick).join(',')}}`;
  return sql`unnest(${list(({ bucket }) => bucket)}::integer[], ${list(({ from }) => from)}::bigint[],
    ${list(({ to }) => to)}::bigint[]) AS range(bucket, first, last)`;
}

type StatTable = typeof eventStats | typeof eventStatsRollups | typeof agentStats | typeof agentStatsRollups;

function groupOf(table: StatTable, group: ChartGroup): SQL {
  if (group === 'none') return sql`''`;
  if ('agentId' in table) return sql`${table.agentId}`;
  if (group === 'type') return sql`${table.type}`;
  return group === 'source' ? sql`${table.source}` : sql`${table.name}`;
}

function conditions(table: StatTable, group: ChartGroup, filter: ChartFilter): (SQL | undefined)[] {
  if ('agentId' in table) {
    return [filter.agentId === undefined ? undefined : eq(table.agentId, filter.agentId)];
  }
  const { type, name, source } = filter;
  return [
    group === 'model' ? eq(table.type, 'llm') : undefined,
    group === 'tool' ? eq(table.type, 'tool') : undefined,
    type === undefined ? undefined : eq(table.type, type),
    name === undefined ? undefined : eq(table.name, name),
    source === undefined ? undefined : eq(table.source, source),
  ];
}
