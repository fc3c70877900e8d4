import { getTableColumns, type SQL, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { countsPerMerge } from '../../../event/latency.ts';
import { rollupSpansHours } from '../../../event/limits.ts';
import {
  agentStats,
  agentStatsRollups,
  eventStats,
  eventStatsRollups,
  events,
  sliceStats,
  sliceStatsRollups,
} from '../../db/schema.ts';
import { listOf, nameOf, namesOf, numberOf } from '../../db/statement.ts';
import { mergedSketch, signedElement, sketchElement } from '../latency-sketch.ts';

/**
 * The parts of the store statement that count its new events in the statistics (`new_events`): one
 * aggregation counts them by minute and by the hours of each roll-up, and these counts are added to the rows.
 */

/** The columns of all tables that are sums over events. */
export const inMeasures = getTableColumns(eventStats);

export const tokens = [
  inMeasures.inputTokens,
  inMeasures.outputTokens,
  inMeasures.totalTokens,
  inMeasures.cacheReadTokens,
  inMeasures.cacheWriteTokens,
  inMeasures.reasoningTokens,
];
/** The sums that only slices have. */
export const sliceSums: readonly PgColumn[] = [sliceStats.usageUnits, sliceStats.reportedCost];

/** Minutes since the epoch, a whole number. */
export const minuteOf = sql`floor(${nameOf(events.startTimeMs)} / 60000)`;

/** The first hour of the span. It is computed from the minute, so that roll-ups are exact sums of minutes. */
const startHourOf = (span: number) =>
  sql`floor(${minuteOf} / ${numberOf(60 * span)})::bigint * ${numberOf(span)}`;

/** The parts of the statement for one kind of statistics. Each is the inside of a common table expression. */
export interface StatisticsParts {
  /** The new events, counted once by minute and key, and by the hours of each roll-up and key. */
  readonly counts: SQL;
  /** @param source a WITH clause that has the counts, unless the statement has them. */
  byMinute(source?: SQL): SQL;
  byHours(source?: SQL): SQL;
}

export interface CountedRows {
  /** Name of the rows in the statement. */
  readonly from: SQL;
  /**
   * Whether the column `sign` is 1 for events that are added, and -1 for those that are subtracted. Without
   * it all are added.
   */
  readonly isSigned: boolean;
}

export const newEvents: CountedRows = { from: sql`new_events`, isSigned: false };

/** The column of signed rows that says whether they are counted by name, too. All are counted by agent. */
export const isByName = sql`${sql.identifier('is_by_name')}`;

/** The columns of counts that have the first hour of each roll-up. */
export const hourNames = rollupSpansHours.map((span) => ({
  span,
  name: sql`${sql.identifier(`hour_of_${span}`)}`,
}));

/** @param counts the name that the statement gives to the counts. */
export function countByName(counts: string, rows = newEvents): StatisticsParts {
  const { type, name, source } = eventStats;
  return statisticsParts({
    counts,
    rows,
    minutes: eventStats,
    rollups: eventStatsRollups,
    dimensions: [
      [type, nameOf(type)],
      [name, sql`coalesce(${nameOf(name)}, '')`],
      [source, nameOf(source)],
    ],
    where: rows.isSigned ? sql`WHERE ${isByName}` : sql``,
  });
}

/** @param counts the name that the statement gives to the counts. */
export function countByAgent(counts: string, rows = newEvents): StatisticsParts {
  const { agentId } = agentStats;
  return statisticsParts({
    counts,
    rows,
    minutes: agentStats,
    rollups: agentStatsRollups,
    dimensions: [[agentId, nameOf(agentId)]],
    where: sql`WHERE ${nameOf(agentId)} IS NOT NULL`,
  });
}

/** @param counts the name that the statement gives to the counts. */
export function countBySlice(counts: string, rows = newEvents): StatisticsParts {
  const { dimension, value, type, name, source, priceClass } = sliceStats;
  return statisticsParts({
    counts,
    rows: { ...rows, from: sql`(${sliceRows(rows)}) AS slices` },
    minutes: sliceStats,
    rollups: sliceStatsRollups,
    dimensions: [dimension, value, type, name, source, priceClass].map((column) => [column, nameOf(column)]),
    where: sql``,
    moreSums: sliceSums,
  });
}

/**
 * The rows of slices (ADR 44): the tokens of calls whose price depends on conditions, and the usage with a
 * price of its own. They count no events: the statistics by name do.
 */
export function sliceRows({ from, isSigned }: CountedRows, more: readonly PgColumn[] = []): SQL {
  const { dimension, value, priceClass, usageUnits } = sliceStats;
  const { spaceId, startTimeMs, type, name, source, state, usageParts, reportedCost } = events;
  const own = sql`${isSigned ? sql`sign, ` : sql``}${namesOf([spaceId, startTimeMs, type, source, ...more])}, coalesce(${nameOf(name)}, '') AS ${nameOf(name)},
    NULL::text AS ${nameOf(state)}, NULL::float8 AS ${nameOf(inMeasures.durationMs)}, 0::smallint AS ${nameOf(dimension)}, '' AS ${nameOf(value)}`;
  const where = isSigned ? sql`${isByName} AND` : sql``;
  return sql`
    SELECT ${own}, ${nameOf(priceClass)}, NULL::float8 AS ${nameOf(usageUnits)}, ${nameOf(reportedCost)}, ${namesOf(tokens)}
    FROM ${from} WHERE ${where} ${nameOf(priceClass)} IS NOT NULL
    UNION ALL
    SELECT ${own}, coalesce(${nameOf(priceClass)}, '') || '+' || (used).key, (used).value::float8, NULL, ${listOf(tokens.map(() => sql`NULL`))}
    FROM (
      -- In the list of columns: a join would be a nested loop over all events.
      SELECT *, json_each_text(${nameOf(usageParts)}) AS used FROM ${from}
      WHERE ${where} ${nameOf(usageParts)} IS NOT NULL AND ${nameOf(reportedCost)} IS NULL
    ) AS parts_of_usage`;
}

/** The common table expressions that count rows by name, for a statement that runs all of them. */
export function nameStatistics(rows = newEvents): SQL {
  return sql`${runAll('name', countByName('name_counts', rows))}, ${runAll('slice', countBySlice('slice_counts', rows))}`;
}

function runAll(kind: string, { counts, byMinute, byHours }: StatisticsParts): SQL {
  const [counted, minutes, hours] = [`${kind}_counts`, `by_${kind}`, `by_${kind}_hours`].map((name) =>
    sql.identifier(name),
  );
  return sql`${counted} AS MATERIALIZED (${counts}
), ${minutes} AS (${byMinute()}
), ${hours} AS (${byHours()}
)`;
}

/** Parts of a statement that add its events to the statistics by agent. */
export function agentStatistics(rows = newEvents): SQL {
  return runAll('agent', countByAgent('agent_counts', rows));
}

interface Statistics {
  readonly counts: string;
  readonly rows: CountedRows;
  readonly minutes: typeof eventStats | typeof agentStats | typeof sliceStats;
  readonly rollups: typeof eventStatsRollups | typeof agentStatsRollups | typeof sliceStatsRollups;
  /**
   * The key columns besides space and time, which have the same names in both tables, and their values in the
   * counted rows.
   */
  readonly dimensions: readonly (readonly [PgColumn, SQL])[];
  readonly where: SQL;
  /** Sums besides those of all tables. */
  readonly moreSums?: readonly PgColumn[];
}

function statisticsParts(statistics: Statistics): StatisticsParts {
  const { counts, rows, minutes, rollups, dimensions, where, moreSums = [] } = statistics;
  const { events: count, durationMs, errors, latency } = inMeasures;
  const { spaceId, minute } = minutes;
  const { spanHours, startHour } = rollups;
  const names = namesOf(dimensions.map(([column]) => column));
  const hours = hourNames;
  const times = [nameOf(minute), ...hours.map(({ name }) => name)];
  const counted = sql`${sql.identifier(counts)}`;
  const { isSigned } = rows;
  const [isEvent, sparse] = [
    sql`FILTER (WHERE ${nameOf(events.state)} IS NOT NULL)`,
    [...tokens, ...moreSums],
  ];
  const countRows = isSigned ? sql`sum(sign)` : sql`count(*)`;
  const element = isSigned ? signedElement : sketchElement;
  return {
    // A row has the time of its own grouping set, and NULL for the times of the others.
    counts: sql`
  SELECT ${nameOf(spaceId)}, ${listOf(times)}, ${names}, coalesce(${countRows} ${isEvent}, 0) AS ${nameOf(count)},
    nullif(${countRows} FILTER (WHERE ${nameOf(events.state)} = 'error'), 0) AS ${nameOf(errors)},
    coalesce(${clampedSum(durationMs, isSigned)}, 0) AS ${nameOf(durationMs)},
    ${listOf(sparse.map((column) => sql`nullif(${clampedSum(column, isSigned)}, 0) AS ${nameOf(column)}`))},
    coalesce(array_agg(element) ${isEvent}, '{}') AS ${nameOf(latency)}
  FROM (
    SELECT ${isSigned ? sql`sign, ` : sql``}${namesOf([spaceId, events.state, durationMs, ...sparse])}, ${minuteOf}::bigint AS ${nameOf(minute)},
      ${listOf(hours.map(({ span, name }) => sql`${startHourOf(span)} AS ${name}`))},
      ${listOf(dimensions.map(([column, value]) => sql`${value} AS ${nameOf(column)}`))},
      ${element} AS element
    FROM ${rows.from} ${where}
  ) AS measured
  GROUP BY GROUPING SETS (${listOf(times.map((time) => sql`(${nameOf(spaceId)}, ${time}, ${names})`))})`,
    byMinute: (source) =>
      upsert(minutes, {
        isSigned,
        moreSums,
        source,
        key: sql`${nameOf(spaceId)}, ${nameOf(minute)}, ${names}`,
        counts: sql`${counted} WHERE ${nameOf(minute)} IS NOT NULL`,
      }),
    byHours: (source) =>
      upsert(rollups, {
        isSigned,
        moreSums,
        source,
        key: sql`${nameOf(spaceId)}, ${namesOf([spanHours, startHour])}, ${names}`,
        counts: sql`(
    SELECT *, CASE ${sql.join(
      hours.map(({ span, name }) => sql`WHEN ${name} IS NOT NULL THEN ${numberOf(span)}`),
      sql` `,
    )} END AS ${nameOf(spanHours)},
      coalesce(${listOf(hours.map(({ name }) => name))}) AS ${nameOf(startHour)}
    FROM ${counted} WHERE ${nameOf(minute)} IS NULL
  ) AS hours`,
      }),
  };
}

/** Adds counts to the rows of their keys. */
function upsert(
  table: PgTable,
  {
    isSigned,
    moreSums,
    source = sql``,
    key,
    counts,
  }: { isSigned: boolean; moreSums: readonly PgColumn[]; source: SQL | undefined; key: SQL; counts: SQL },
): SQL {
  const { events: count, durationMs, errors, latency } = inMeasures;
  // Sums that are null instead of 0.
  const sparse = [errors, ...tokens, ...moreSums];
  const [kept, excluded] = [sql`kept.${nameOf(count)}`, sql`excluded.${nameOf(count)}`];
  const both = sql`kept.${nameOf(latency)} || excluded.${nameOf(latency)}`;
  const perMerge = numberOf(countsPerMerge);
  return sql`
  INSERT INTO ${table} AS kept (${key}, ${namesOf([count, durationMs, ...sparse, latency])})
  ${source} SELECT ${key}, ${namesOf([count, durationMs, ...sparse])},
    ${isSigned ? mergedSketch(nameOf(latency)) : sql`CASE WHEN ${nameOf(count)} < ${perMerge} THEN ${nameOf(latency)} ELSE ${mergedSketch(nameOf(latency))} END`}
  FROM ${counts}
  ORDER BY ${key}
  ON CONFLICT (${key}) DO UPDATE SET
    ${listOf([addTo(count), addTo(durationMs), ...sparse.map(addToSparse)])},
    -- Merging is the most expensive step, so it is done once per countsPerMerge events.
    ${nameOf(latency)} = ${
      isSigned
        ? mergedSketch(both)
        : sql`CASE WHEN ${kept} / ${perMerge} = (${kept} + ${excluded}) / ${perMerge} THEN ${both}
      ELSE ${mergedSketch(both)} END`
    }`;
}

/** Clamps each value before summing: clients may send any finite number, and sums must stay finite. */
export function clampedSum(column: PgColumn, isSigned: boolean): SQL {
  const name = nameOf(column);
  const sign = isSigned ? sql`sign * ` : sql``;
  // greatest() and least() ignore a NULL.
  return sql`sum(${sign}least(greatest(${name}, -1e15), 1e15)) FILTER (WHERE ${name} IS NOT NULL)`;
}

/** Adds to a counter of the existing row. */
export function addTo(column: PgColumn): SQL {
  return sql`${nameOf(column)} = kept.${nameOf(column)} + excluded.${nameOf(column)}`;
}

function addToSparse(column: PgColumn): SQL {
  const [kept, excluded] = [sql`kept.${nameOf(column)}`, sql`excluded.${nameOf(column)}`];
  return sql`${nameOf(column)} = coalesce(${kept} + ${excluded}, ${kept}, ${excluded})`;
}
