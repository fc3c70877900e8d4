import { type SQL, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { countsPerMerge } from '../../../event/latency.ts';
import { rollupSpansHours } from '../../../event/limits.ts';
import type { Database } from '../../db/database.ts';
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
import { isNotDeleted } from '../deleted-spaces.ts';
import { mergedSketch } from '../latency-sketch.ts';
import { deltasPerFoldMax } from '../limits.ts';
import { ownValues, slicesOf } from './fold-dimensions.ts';
import { addTo, inMeasures, sliceSums, tokens } from './measures.ts';

/** Folding (ADR 0040): the deltas of many statements are added to the statistics at once. */

const { spaceId, number, minute, type, name, source, agentId, priceClass, latency } = statisticDeltas;
const { dimensionValues, isOfDimensions, events: count, errors, durationMs } = statisticDeltas;
const names = [type, name, source];
const added: readonly PgColumn[] = [count, errors, durationMs, ...tokens];

/**
 * Adds deltas to the statistics, at most {@link deltasPerFoldMax}, and deletes them, in one statement. Any
 * number of writers may call it at the same time: each row is deleted, and thereby counted, once. Rows of
 * deleted spaces are only deleted.
 *
 * @returns the number of rows.
 */
export async function foldStatistics(database: Database): Promise<number> {
  const [row] = await database.execute<{ folded: number }>(foldStatement);
  return row?.folded ?? 0;
}

/** The columns of counts that have the first hour of each roll-up. */
const hourNames = rollupSpansHours.map((span) => ({ span, name: sql`${sql.identifier(`hour_of_${span}`)}` }));

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

const isWhole = sql`${nameOf(priceClass)} IS NULL AND NOT ${nameOf(isOfDimensions)}`;
const { dimension, value } = sliceStats;
const foldStatement = sql`
WITH folded AS (
  DELETE FROM ${statisticDeltas}
  -- IS TRUE makes Postgres hash the numbers: it would join them by nested loops.
  WHERE ((${namesOf([spaceId, number])}) IN (SELECT ${namesOf([spaceId, number])} FROM ${statisticDeltas} LIMIT ${numberOf(deltasPerFoldMax)})) IS TRUE
  RETURNING *
), deltas AS MATERIALIZED (
  SELECT ${namesOf([spaceId, minute, ...names, agentId, dimensionValues, isOfDimensions, priceClass, ...added, ...sliceSums])},
    array_to_string(${nameOf(latency)}, ',') AS elements
  FROM folded WHERE ${isNotDeleted(sql`folded.${nameOf(spaceId)}`)}
), ${ownValues(sql`deltas`)}, ${fold({
  counts: 'name_counts',
  from: sql`deltas WHERE ${isWhole}`,
  minutes: eventStats,
  rollups: eventStatsRollups,
  dimensions: names,
  sums: added,
})}, ${fold({
  counts: 'agent_counts',
  from: sql`deltas WHERE ${isWhole} AND ${nameOf(agentId)} IS NOT NULL`,
  minutes: agentStats,
  rollups: agentStatsRollups,
  dimensions: [agentId],
  sums: added,
})}, ${fold({
  counts: 'slice_counts',
  from: sql`(${slicesOf(sql`deltas`, [spaceId, minute, ...names, ...added, ...sliceSums])}) AS slices`,
  minutes: sliceStats,
  rollups: sliceStatsRollups,
  dimensions: [dimension, value, ...names, priceClass],
  sums: [...added, ...sliceSums],
})}
SELECT count(*)::integer AS folded FROM folded`;

/**
 * The common table expressions that count deltas and add the counts to the tables: by minute, and from these,
 * which are fewer, by the hours of each roll-up. Sketches are merged before they are counted by hour. They are
 * joined as texts: no aggregate of Postgres concatenates arrays of different lengths.
 */
function fold({ counts, from, minutes, rollups, dimensions, sums: columns }: Statistics): SQL {
  const [counted, byMinute, byHour] = ['', '_by_minute', '_by_hour'].map(
    (end) => sql`${sql.identifier(`${counts}${end}`)}`,
  );
  const { spanHours, startHour } = rollups;
  const key = namesOf([spaceId, ...dimensions]);
  const sums = listOf(columns.map((column) => sql`${sumOf(column)} AS ${nameOf(column)}`));
  const hours = hourNames.map(({ name }) => name);
  const firstHours = hourNames.map(
    ({ span, name }) =>
      sql`floor(${nameOf(minute)} / ${numberOf(60 * span)}.0)::bigint * ${numberOf(span)} AS ${name}`,
  );
  const spans = hourNames.map(({ span, name }) => sql`WHEN ${name} IS NOT NULL THEN ${numberOf(span)}`);
  return sql`${counted} AS MATERIALIZED (
  SELECT ${key}, ${nameOf(minute)}, ${namesOf(columns)}, ${mergedSketch(nameOf(latency))} AS ${nameOf(latency)}
  FROM (
    SELECT ${key}, ${nameOf(minute)}, ${sums}, ${joined(sql`elements`)} AS ${nameOf(latency)}
    FROM ${from} GROUP BY ${key}, ${nameOf(minute)}
  ) AS each
), ${byMinute} AS (${upsert(minutes, columns, { key: sql`${key}, ${nameOf(minute)}`, from: sql`${counted}` })}
), ${byHour} AS (${upsert(rollups, columns, {
    key: sql`${key}, ${namesOf([spanHours, startHour])}`,
    from: sql`(
    SELECT ${key}, CASE ${sql.join(spans, sql` `)} END AS ${nameOf(spanHours)}, coalesce(${listOf(hours)}) AS ${nameOf(startHour)},
      ${sums}, ${joined(sql`array_to_string(${nameOf(latency)}, ',')`)} AS ${nameOf(latency)}
    FROM (SELECT *, ${listOf(firstHours)} FROM ${counted}) AS each
    GROUP BY GROUPING SETS (${listOf(hours.map((hour) => sql`(${key}, ${hour})`))})
  ) AS hours`,
  })}
)`;
}

/** Adds counts to the rows of their keys. */
function upsert(table: PgTable, columns: readonly PgColumn[], { key, from }: { key: SQL; from: SQL }): SQL {
  const { events: count, durationMs, latency } = inMeasures;
  // Sums that are null instead of 0.
  const sparse = columns.filter(({ name }) => name !== count.name && name !== durationMs.name);
  const [kept, excluded] = [sql`kept.${nameOf(count)}`, sql`excluded.${nameOf(count)}`];
  const both = sql`kept.${nameOf(latency)} || excluded.${nameOf(latency)}`;
  const perMerge = numberOf(countsPerMerge);
  return sql`
  INSERT INTO ${table} AS kept (${key}, ${namesOf([...columns, latency])})
  SELECT ${key}, ${namesOf(columns)}, CASE WHEN ${nameOf(count)} BETWEEN 1 AND ${perMerge} - 1 THEN ${nameOf(latency)} ELSE ${mergedSketch(nameOf(latency))} END
  FROM ${from}
  ORDER BY ${key}
  ON CONFLICT (${key}) DO UPDATE SET
    ${listOf([addTo(count), addTo(durationMs), ...sparse.map(addToSparse)])},
    -- Merging is the most expensive step, so it is done once per countsPerMerge events.
    ${nameOf(latency)} = CASE WHEN ${excluded} > 0 AND ${kept} / ${perMerge} = (${kept} + ${excluded}) / ${perMerge} THEN ${both}
      ELSE ${mergedSketch(both)} END`;
}

function sumOf(column: PgColumn): SQL {
  // The sum of bigint is numeric.
  return sql`sum(${nameOf(column)})::${sql.raw(column.getSQLType())}`;
}

/** Slices have no sketches. */
function joined(elements: SQL): SQL {
  return sql`coalesce(string_to_array(string_agg(nullif(${elements}, ''), ','), ','), '{}')::bigint[]`;
}

function addToSparse(column: PgColumn): SQL {
  const [kept, excluded] = [sql`kept.${nameOf(column)}`, sql`excluded.${nameOf(column)}`];
  return sql`${nameOf(column)} = coalesce(${kept} + ${excluded}, ${kept}, ${excluded})`;
}
