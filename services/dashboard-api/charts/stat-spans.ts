import { and, eq, gte, lt, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { minuteMs } from '../../../platform/time.ts';
import {
  agentStats,
  agentStatsRollups,
  eventStats,
  eventStatsRollups,
  sliceStats,
  sliceStatsRollups,
  statisticDeltas,
} from '../../../store/db/schema.ts';
import { listOf, nameOf } from '../../../store/db/statement.ts';
import { unfoldedValues } from '../../../store/write/statistics/fold-dimensions.ts';
import type { ChartDimension, ChartFilter, ChartGroup } from './dimension.ts';
import { coverBuckets, type StatRange } from './stat-ranges.ts';

/** The rows of statistics that a chart reads. */
export interface SpanQuery {
  /** Bucket n lies between the n-th and the next one. */
  readonly boundaries: readonly number[];
  readonly group: ChartGroup;
  readonly filter: ChartFilter;
  /** Found by `findDimension`, for a group or filter that needs one. */
  readonly dimension?: ChartDimension | undefined;
  /** Whether the rows of slices are read, not those of all events. */
  readonly ofSlices?: boolean;
  /** Whether only calls of models are read, with the column `model`. */
  readonly byModel?: boolean;
}

/**
 * The rows of each bucket: a UNION branch for minutes, one for each roll-up in use, and one for what is not
 * folded into these yet. The column
 * `grouped` is null for values of a dimension that are counted together.
 */
export function selectSpans(spaceId: string, query: SpanQuery, columns: readonly PgColumn[]): SQL {
  const { boundaries, dimension, ofSlices = false } = query;
  const [minutes, rollups] =
    ofSlices || dimension !== undefined
      ? [sliceStats, sliceStatsRollups]
      : isByAgent(query)
        ? [agentStats, agentStatsRollups]
        : [eventStats, eventStatsRollups];
  const ofDimension =
    minutes === sliceStats
      ? [
          sql`${nameOf(sliceStats.dimension)} = ${dimension?.number ?? 0}::smallint`,
          isOfClass(ofSlices, "= ''"),
        ]
      : [];
  const ranges = Map.groupBy(coverBuckets(boundaries), ({ spanHours }) => spanHours);
  const spans = [...ranges].map(([spanHours, own]) => {
    const [table, place, minute] =
      spanHours === 0 ? [minutes, minutes.minute, sql`place`] : [rollups, rollups.startHour, sql`place * 60`];
    const isSpan = spanHours === 0 ? undefined : eq(rollups.spanHours, spanHours);
    // OFFSET 0 keeps the plan an index scan for each range, whatever Postgres knows of the table.
    return sql`
  SELECT ${bucketOf(minute, boundaries)} AS bucket, stats.* FROM ${unnestRanges(own)} CROSS JOIN LATERAL (
    SELECT ${listOf([sql`${place} AS place`, ...shown(query), ...columns.map(nameOf)])}
    FROM ${table}
    WHERE ${and(
      eq(table.spaceId, spaceId),
      isSpan,
      gte(place, sql`range.first`),
      lt(place, sql`range.last`),
      ...ofDimension,
      ...conditions(query),
    )} OFFSET 0
  ) AS stats`;
  });
  return sql.join([...spans, selectDeltas(spaceId, query, columns)], sql` UNION ALL `);
}

/** There are few deltas, so each is read once, whatever the number of buckets. */
function selectDeltas(spaceId: string, query: SpanQuery, columns: readonly PgColumn[]): SQL {
  const { boundaries, dimension, ofSlices = false } = query;
  const [first = 0, last = 0] = [boundaries[0], boundaries.at(-1)];
  const { minute, agentId, isOfDimensions } = statisticDeltas;
  const isCounted = dimension === undefined ? sql`NOT ${nameOf(isOfDimensions)}` : undefined;
  return sql`
  SELECT ${listOf([sql`${bucketOf(nameOf(minute), boundaries)} AS bucket`, sql`${nameOf(minute)} AS place`, ...shown(query), ...columns.map(nameOf)])}
  FROM ${dimension === undefined ? statisticDeltas : sql`(${unfoldedValues(spaceId, dimension.number)}) AS unfolded`}
  WHERE ${and(
    sql`${nameOf(statisticDeltas.spaceId)} = ${spaceId}::uuid`,
    sql`${nameOf(minute)} >= ${first / minuteMs}::bigint AND ${nameOf(minute)} < ${last / minuteMs}::bigint`,
    isOfClass(ofSlices, 'IS NULL'),
    isCounted,
    isByAgent(query) ? sql`${nameOf(agentId)} IS NOT NULL` : undefined,
    ...conditions(query),
  )}`;
}

/** Whether the rows are those of slices, or else count all events. */
function isOfClass(ofSlices: boolean, common: "= ''" | 'IS NULL'): SQL {
  const is = sql`${nameOf(sliceStats.priceClass)} ${sql.raw(common)}`;
  return ofSlices ? sql`NOT (${is})` : is;
}

/** The bucket of a minute since the epoch, by binary search. */
function bucketOf(minute: SQL, boundaries: readonly number[]): SQL {
  return sql`width_bucket(${minute}, ${`{${boundaries.map((ms) => ms / minuteMs).join(',')}}`}::bigint[]) - 1`;
}

function unnestRanges(ranges: readonly StatRange[]): SQL {
  const list = (pick: (range: StatRange) => number) => `{${ranges.map(pick).join(',')}}`;
  return sql`unnest(${list(({ from }) => from)}::bigint[], ${list(({ to }) => to)}::bigint[]) AS range(first, last)`;
}

/** Whether the statistics by agent are read, which have no type, name and source. */
function isByAgent({ group, filter, dimension }: SpanQuery): boolean {
  return dimension === undefined && (group === 'agent' || filter.agentId !== undefined);
}

// The columns have the same names in all tables that have them.
const { type, name, source, agentId } = statisticDeltas;
const { value } = sliceStats;

function shown(query: SpanQuery): SQL[] {
  const grouped = sql`${groupOf(query)} AS grouped`;
  return query.byModel === true ? [grouped, sql`${nameOf(name)} AS model`] : [grouped];
}

function groupOf(query: SpanQuery): SQL {
  const { group } = query;
  if (group === 'none') return sql`''`;
  if (group === 'type') return nameOf(type);
  if (group === 'source') return nameOf(source);
  if (group === 'model' || group === 'tool') return nameOf(name);
  if (isByAgent(query)) return nameOf(agentId);
  return sql`CASE WHEN ${nameOf(value)} <> '' THEN substr(${nameOf(value)}, 2) END`;
}

function conditions(query: SpanQuery): (SQL | undefined)[] {
  const { group, filter, dimension, byModel = false } = query;
  const equal = (column: PgColumn, wanted: string | undefined) =>
    wanted === undefined ? undefined : sql`${nameOf(column)} = ${wanted}`;
  if (isByAgent(query)) return [equal(agentId, filter.agentId)];
  return [
    group === 'model' || byModel ? equal(type, 'llm') : undefined,
    group === 'tool' ? equal(type, 'tool') : undefined,
    equal(type, filter.type),
    equal(name, filter.name),
    equal(source, filter.source),
    ...(filter.not ?? []).map((one) => sql`${nameOf({ type, name, source }[one.column])} <> ${one.value}`),
    equal(value, dimension?.value === undefined ? undefined : `=${dimension.value}`),
  ];
}
