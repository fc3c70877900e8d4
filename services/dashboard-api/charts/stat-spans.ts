import { and, eq, type SQL, sql } from 'drizzle-orm';
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
import { noValue, unfoldedValues } from '../../../store/write/statistics/fold-dimensions.ts';
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
  /** An array of `=VALUE`: other values of the dimension are not read. */
  readonly values?: SQL | undefined;
  /** Whether the events without a value of the dimension are read, too. Their column `grouped` is null. */
  readonly withoutValue?: boolean;
  /** Whether the rows of slices are read, not those of all events. */
  readonly ofSlices?: boolean;
  /** Whether only calls of models are read, with the column `model`. */
  readonly byModel?: boolean;
}

/**
 * The rows of each bucket: UNION branches for minutes, for each roll-up in use, and for what is not folded
 * into these yet. The column `grouped` is null for values of a dimension that are counted together.
 */
export function selectSpans(spaceId: string, query: SpanQuery, columns: readonly PgColumn[]): SQL {
  const ranges = Map.groupBy(coverBuckets(query.boundaries), ({ spanHours }) => spanHours);
  const folded = [...ranges].flatMap(([spanHours, own]) => {
    const select = (first: SQL, last: SQL) =>
      selectFolded(spaceId, query, { spanHours, first, last, columns });
    const minute = spanHours === 0 ? sql`place` : sql`place * 60`;
    const withBucket = sql`SELECT ${bucketOf(minute, query.boundaries)} AS bucket, stats.*`;
    // OFFSET 0 keeps the plan an index scan for each range, whatever Postgres knows of the table.
    if (own.length > rangesApartMax)
      return sql`
  ${withBucket} FROM ${unnestRanges(own)} CROSS JOIN LATERAL (${select(sql`range.first`, sql`range.last`)} OFFSET 0) AS stats`;
    return own.map(
      ({ from, to }) => sql`
  ${withBucket} FROM (${select(sql`${from}::bigint`, sql`${to}::bigint`)}) AS stats`,
    );
  });
  return sql.join([...folded, selectDeltas(spaceId, query, columns)], sql` UNION ALL `);
}

/** Ranges that are no join: Postgres reads them in parallel where a space has many rows. */
const rangesApartMax = 4;

function selectFolded(
  spaceId: string,
  query: SpanQuery,
  range: { spanHours: number; first: SQL; last: SQL; columns: readonly PgColumn[] },
): SQL {
  const { dimension, ofSlices = false } = query;
  const isSliced = ofSlices || dimension !== undefined;
  const [minutes, rollups] = isSliced
    ? [sliceStats, sliceStatsRollups]
    : isByAgent(query)
      ? [agentStats, agentStatsRollups]
      : [eventStats, eventStatsRollups];
  const { spanHours, first, last, columns } = range;
  const [table, place] = spanHours === 0 ? [minutes, minutes.minute] : [rollups, rollups.startHour];
  return sql`
    SELECT ${listOf([sql`${place} AS place`, ...shown(query), ...columns.map(nameOf)])}
    FROM ${table}
    WHERE ${and(
      eq(table.spaceId, spaceId),
      spanHours === 0 ? undefined : eq(rollups.spanHours, spanHours),
      sql`${place} >= ${first} AND ${place} < ${last}`,
      isSliced ? sql`${nameOf(sliceStats.dimension)} = ${dimension?.number ?? 0}::smallint` : undefined,
      isSliced ? isOfClass(ofSlices, "= ''") : undefined,
      ...conditions(query),
    )}`;
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
  return sql`CASE WHEN starts_with(${nameOf(value)}, '=') THEN substr(${nameOf(value)}, 2) END`;
}

function conditions(query: SpanQuery): (SQL | undefined)[] {
  const { group, filter, dimension, values, withoutValue = false, byModel = false } = query;
  const areSome = values !== undefined || dimension === undefined || dimension.value !== undefined;
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
    values && sql`${nameOf(value)} = ANY (${values})`,
    areSome || withoutValue ? undefined : sql`${nameOf(value)} <> ${noValue}`,
  ];
}
