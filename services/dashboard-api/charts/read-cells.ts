import { and, eq, gte, isNotNull, lt, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { minuteMs } from '../../../platform/time.ts';
import type { Database } from '../../../store/db/database.ts';
import {
  agentStats,
  agentStatsRollups,
  eventStats,
  eventStatsRollups,
  statisticDeltas,
} from '../../../store/db/schema.ts';
import { listOf, nameOf } from '../../../store/db/statement.ts';
import { coverBuckets, type StatRange } from './stat-ranges.ts';

/** The dimension by which a chart is split. */
export type ChartGroup = 'none' | 'type' | 'model' | 'tool' | 'source' | 'agent';

/** Which events a chart counts. Statistics by agent have no other dimension. */
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
  /** Number of groups with the most events; all others form one group. */
  readonly groupsMax: number;
  /** Whether to read the duration sketches, which are most of the work. */
  readonly withDurations: boolean;
}

/** The sums of one bucket and one group. */
export interface Cell extends Sums {
  bucket: number;
  /** The rank of the group by number of events, from 1; 0 for the remaining groups. */
  rank: number;
  /** The group's name; null for the remaining groups. */
  group: string | null;
  /** The unmerged sketches of durations, for `LatencySketch.addBinary`. Empty when they are not read. */
  latency: Uint8Array;
}

/** Token sums are exact up to 2^53 if clients send integers. */
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

/** Reads the sums of a chart from statistics: the work depends on the number of buckets and groups, not of events. */
export async function readCells(database: Database, spaceId: string, query: CellQuery): Promise<Cell[]> {
  const { boundaries, group, withDurations } = query;
  const { events } = summed;
  const sums = Object.values(summed);
  // Sketches are merged here: in SQL, each of their elements would become a row (ADR 0021).
  const [read, latency] = withDurations
    ? [[...sums, eventStats.latency], sql`string_agg(array_send(${nameOf(eventStats.latency)}), ''::bytea)`]
    : [sums, sql`''::bytea`];
  // The largest groups are determined from the longest roll-ups: keeping the rows of all buckets would exceed the memory that Postgres
  // gives a query.
  const ranked =
    group === 'none'
      ? sql`SELECT '' AS grouped, 1 AS rank`
      : sql`
  SELECT grouped, row_number() OVER (ORDER BY sum(${nameOf(events)}) DESC, grouped)::integer AS rank
  FROM (${selectSpans(spaceId, query, [boundaries[0] ?? 0, boundaries.at(-1) ?? 0], [events])}) AS whole
  GROUP BY grouped ORDER BY rank LIMIT ${query.groupsMax}`;
  const rows = await database.execute<Record<string, unknown>>(sql`
WITH ranked AS MATERIALIZED (${ranked})
SELECT bucket, coalesce(rank, 0) AS place, min(grouped) AS grouped,
  ${listOf(sums.map((column) => sql`coalesce(sum(${nameOf(column)}), 0)::float8 AS ${nameOf(column)}`))}, ${latency} AS latency
FROM (${selectSpans(spaceId, query, boundaries, read)}) AS cells LEFT JOIN ranked USING (grouped)
GROUP BY bucket, place ORDER BY bucket, place`);
  return rows.map(toCell);
}

function toCell(row: Record<string, unknown>): Cell {
  const rank = Number(row.place);
  const sums = Object.entries(summed).map(([name, column]) => [name, Number(row[column.name])]);
  return {
    ...(Object.fromEntries(sums) as Record<keyof Sums, number>),
    bucket: Number(row.bucket),
    rank,
    group: rank === 0 ? null : String(row.grouped),
    latency: row.latency as Buffer,
  };
}

/** The rows of each bucket: a UNION branch for minutes, one for each roll-up in use, and one for what is not folded into these yet. */
function selectSpans(
  spaceId: string,
  { group, filter }: CellQuery,
  boundaries: readonly number[],
  columns: readonly PgColumn[],
): SQL {
  const ranges = Map.groupBy(coverBuckets(boundaries), ({ spanHours }) => spanHours);
  const byAgent = group === 'agent' || filter.agentId !== undefined;
  const spans = [...ranges].map(([spanHours, own]) => {
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
    SELECT ${groupOf(table, group)} AS grouped, ${listOf(columns.map(nameOf))}
    FROM ${table}
    WHERE ${and(
      eq(table.spaceId, spaceId),
      isSpan,
      gte(place, sql`range.first`),
      lt(place, sql`range.last`),
      ...conditions(table, byAgent, { group, filter }),
    )}
  ) AS stats`;
  });
  return sql.join(
    [...spans, selectDeltas(spaceId, { byAgent, group, filter }, boundaries, columns)],
    sql` UNION ALL `,
  );
}

/** There are few deltas, so each is read once, whatever the number of buckets. */
function selectDeltas(
  spaceId: string,
  { byAgent, group, filter }: Pick<CellQuery, 'group' | 'filter'> & { byAgent: boolean },
  boundaries: readonly number[],
  columns: readonly PgColumn[],
): SQL {
  const minutes = boundaries.map((ms) => ms / minuteMs);
  const [first = 0, last = 0] = [minutes[0], minutes.at(-1)];
  const { minute } = statisticDeltas;
  return sql`
  SELECT width_bucket(${minute}, ${`{${minutes.join(',')}}`}::bigint[]) - 1 AS bucket, ${groupOf(statisticDeltas, group)} AS grouped, ${listOf(columns.map(nameOf))}
  FROM ${statisticDeltas}
  WHERE ${and(
    eq(statisticDeltas.spaceId, spaceId),
    gte(minute, first),
    lt(minute, last),
    byAgent ? isNotNull(statisticDeltas.agentId) : undefined,
    ...conditions(statisticDeltas, byAgent, { group, filter }),
  )}`;
}

function unnestRanges(ranges: readonly StatRange[]): SQL {
  const list = (pick: (range: StatRange) => number) => `{${ranges.map(pick).join(',')}}`;
  return sql`unnest(${list(({ bucket }) => bucket)}::integer[], ${list(({ from }) => from)}::bigint[],
    ${list(({ to }) => to)}::bigint[]) AS range(bucket, first, last)`;
}

type NameTable = typeof eventStats | typeof eventStatsRollups | typeof statisticDeltas;
type AgentTable = typeof agentStats | typeof agentStatsRollups | typeof statisticDeltas;
type StatTable = NameTable | AgentTable;

const hasAgent = (table: StatTable): table is AgentTable => 'agentId' in table;
const hasName = (table: StatTable): table is NameTable => 'name' in table;

function groupOf(table: StatTable, group: ChartGroup): SQL {
  if (group === 'none') return sql`''`;
  if (hasAgent(table) && (group === 'agent' || !hasName(table))) return sql`${table.agentId}`;
  if (group === 'type') return sql`${table.type}`;
  return group === 'source' ? sql`${table.source}` : sql`${table.name}`;
}

function conditions(
  table: StatTable,
  byAgent: boolean,
  { group, filter }: Pick<CellQuery, 'group' | 'filter'>,
): (SQL | undefined)[] {
  if (hasAgent(table) && (byAgent || !hasName(table))) {
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
