import { type SQL, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { countsPerMerge } from '../../../event/latency.ts';
import { rollupSpansHours } from '../../../event/limits.ts';
import {
  agentStats,
  agentStatsRollups,
  eventStats,
  eventStatsRollups,
  sliceStats,
  sliceStatsRollups,
  statisticDeltas,
} from '../../db/schema.ts';
import { listOf, nameOf, namesOf, numberOf } from '../../db/statement.ts';
import { mergedSketch } from '../latency-sketch.ts';
import { selectSlices } from './fold-dimensions.ts';
import { addTo, inMeasures, sliceSums, tokens } from './measures.ts';

/**
 * The parts of folding (fold.ts): common table expressions that count `deltas`, and the statements that add
 * the counts to the statistics.
 */

const { spaceId, minute, type, name, source, agentId, priceClass, latency } = statisticDeltas;
const { dimensionValues, isOfDimensions, events: count, errors, durationMs } = statisticDeltas;
const names = [type, name, source];
const added: readonly PgColumn[] = [count, errors, durationMs, ...tokens];

/** The inside of `deltas`. @param from their rows. */
export function selectDeltas(from: SQL): SQL {
  return sql`
  SELECT ${namesOf([spaceId, minute, ...names, agentId, dimensionValues, isOfDimensions, priceClass, ...added, ...sliceSums])},
    array_to_string(${nameOf(latency)}, ',') AS elements
  FROM ${from}`;
}

interface Statistics {
  /** The name of their counts in the statement. */
  readonly counts: string;
  readonly from: SQL;
  readonly minutes: typeof eventStats | typeof agentStats | typeof sliceStats;
  readonly rollups: typeof eventStatsRollups | typeof agentStatsRollups | typeof sliceStatsRollups;
  /** The key columns besides space and time, which have the same names in both tables. */
  readonly dimensions: readonly PgColumn[];
  readonly sums: readonly PgColumn[];
}

/** The statistics that deltas are added to. @param areFolded the condition on spaces. */
export function listStatistics(areFolded: SQL): Statistics[] {
  const isWhole = sql`${nameOf(priceClass)} IS NULL AND NOT ${nameOf(isOfDimensions)}`;
  const { dimension, value } = sliceStats;
  const slices = selectSlices(areFolded, [spaceId, minute, ...names, ...added, ...sliceSums]);
  return [
    {
      counts: 'name_counts',
      from: sql`deltas WHERE ${isWhole}`,
      minutes: eventStats,
      rollups: eventStatsRollups,
      dimensions: names,
      sums: added,
    },
    {
      counts: 'agent_counts',
      from: sql`deltas WHERE ${isWhole} AND ${nameOf(agentId)} IS NOT NULL`,
      minutes: agentStats,
      rollups: agentStatsRollups,
      dimensions: [agentId],
      sums: added,
    },
    {
      counts: 'slice_counts',
      from: sql`(${slices}) AS slices`,
      minutes: sliceStats,
      rollups: sliceStatsRollups,
      dimensions: [dimension, value, ...names, priceClass],
      sums: [...added, ...sliceSums],
    },
  ];
}

const sumsOf = (columns: readonly PgColumn[]) =>
  // The sum of bigint is numeric.
  listOf(
    columns.map(
      (column) => sql`sum(${nameOf(column)})::${sql.raw(column.getSQLType())} AS ${nameOf(column)}`,
    ),
  );

/**
 * The common table expression of counts by minute. Sketches are joined as texts: no aggregate of Postgres
 * concatenates arrays of different lengths.
 */
export function countByMinute({ counts, from, dimensions, sums }: Statistics): SQL {
  const key = namesOf([spaceId, ...dimensions, minute]);
  return sql`${sql.identifier(counts)} AS (
  SELECT ${key}, ${namesOf(sums)}, ${mergedSketch(nameOf(latency))} AS ${nameOf(latency)}
  FROM (SELECT ${key}, ${sumsOf(sums)}, ${joined(sql`elements`)} AS ${nameOf(latency)} FROM ${from} GROUP BY ${key}) AS each
)`;
}

/** Adds counts by minute. @param source as in statement-parts.ts. */
export function addMinutes({ counts, minutes, dimensions, sums }: Statistics, source = sql``): SQL {
  const key = namesOf([spaceId, ...dimensions, minute]);
  return upsert(minutes, sums, { key, from: sql`${sql.identifier(counts)}`, source });
}

/** The columns of counts that have the first hour of each roll-up. */
const hourNames = rollupSpansHours.map((span) => ({ span, name: sql`${sql.identifier(`hour_of_${span}`)}` }));

/**
 * Adds the counts, which are fewer than deltas and whose sketches are merged, by the hours of each roll-up.
 */
export function addHours({ counts, rollups, dimensions, sums }: Statistics, source = sql``): SQL {
  const { spanHours, startHour } = rollups;
  const key = namesOf([spaceId, ...dimensions]);
  const hours = hourNames.map(({ name }) => name);
  const firstHours = hourNames.map(
    ({ span, name }) =>
      sql`floor(${nameOf(minute)} / ${numberOf(60 * span)}.0)::bigint * ${numberOf(span)} AS ${name}`,
  );
  const spans = hourNames.map(({ span, name }) => sql`WHEN ${name} IS NOT NULL THEN ${numberOf(span)}`);
  return upsert(rollups, sums, {
    key: sql`${key}, ${namesOf([spanHours, startHour])}`,
    from: sql`(
    SELECT ${key}, CASE ${sql.join(spans, sql` `)} END AS ${nameOf(spanHours)}, coalesce(${listOf(hours)}) AS ${nameOf(startHour)},
      ${sumsOf(sums)}, ${joined(sql`array_to_string(${nameOf(latency)}, ',')`)} AS ${nameOf(latency)}
    FROM (SELECT *, ${listOf(firstHours)} FROM ${sql.identifier(counts)}) AS each
    GROUP BY GROUPING SETS (${listOf(hours.map((hour) => sql`(${key}, ${hour})`))})
  ) AS hours`,
    source,
  });
}

/** Adds counts to the rows of their keys. */
function upsert(
  table: PgTable,
  columns: readonly PgColumn[],
  { key, from, source }: { key: SQL; from: SQL; source: SQL },
): SQL {
  const { events: count, durationMs, latency } = inMeasures;
  // Sums that are null instead of 0.
  const sparse = columns.filter(({ name }) => name !== count.name && name !== durationMs.name);
  const [kept, excluded] = [sql`kept.${nameOf(count)}`, sql`excluded.${nameOf(count)}`];
  const both = sql`kept.${nameOf(latency)} || excluded.${nameOf(latency)}`;
  const perMerge = numberOf(countsPerMerge);
  return sql`
  INSERT INTO ${table} AS kept (${key}, ${namesOf([...columns, latency])})
  ${source} SELECT ${key}, ${namesOf(columns)}, CASE WHEN ${nameOf(count)} BETWEEN 1 AND ${perMerge} - 1 THEN ${nameOf(latency)} ELSE ${mergedSketch(nameOf(latency))} END
  FROM ${from}
  ORDER BY ${key}
  ON CONFLICT (${key}) DO UPDATE SET
    ${listOf([addTo(count), addTo(durationMs), ...sparse.map(addToSparse)])},
    -- Merging is the most expensive step, so it is done once per countsPerMerge events.
    ${nameOf(latency)} = CASE WHEN ${excluded} > 0 AND ${kept} / ${perMerge} = (${kept} + ${excluded}) / ${perMerge} THEN ${both}
      ELSE ${mergedSketch(both)} END`;
}

/** Slices have no sketches. */
function joined(elements: SQL): SQL {
  return sql`coalesce(string_to_array(string_agg(nullif(${elements}, ''), ','), ','), '{}')::bigint[]`;
}

function addToSparse(column: PgColumn): SQL {
  const [kept, excluded] = [sql`kept.${nameOf(column)}`, sql`excluded.${nameOf(column)}`];
  return sql`${nameOf(column)} = coalesce(${kept} + ${excluded}, ${kept}, ${excluded})`;
}
