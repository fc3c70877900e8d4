import { type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Database } from '../../db/database.ts';
import { events, statisticDeltas } from '../../db/schema.ts';
import { listOf, nameOf, namesOf, numberOf } from '../../db/statement.ts';
import { isNotDeleted } from '../deleted-spaces.ts';
import { mergedSketch, sketchElement } from '../latency-sketch.ts';
import { deltasPerFoldMax } from '../limits.ts';
import {
  clampedSum,
  countByAgent,
  countByName,
  countBySlice,
  hourNames,
  minuteOf,
  newEvents,
  type StatisticsParts,
  sliceRows,
  sliceSums,
  tokens,
} from './statistics.ts';

/**
 * Statistics in two steps (ADR 0040). A store statement adds rows of its own, which no other statement
 * changes: its new events, counted by minute and all dimensions together. Folding adds the rows of many
 * statements to the statistics at once. Charts read both.
 */

const {
  spaceId,
  number,
  minute,
  type,
  name,
  source,
  agentId,
  dimension,
  value,
  priceClass,
  events: count,
  errors,
  durationMs,
  latency,
} = statisticDeltas;
const names = [type, name, source];
const sliceKey = [dimension, value, ...names, priceClass];
const added: readonly PgColumn[] = [count, errors, durationMs, ...tokens];

/** The INSERT of the store statement: counts its new events, and their slices. */
export function insertDeltas(): SQL {
  const key = [spaceId, minute, ...names, agentId];
  const ofSlice = [spaceId, minute, ...sliceKey];
  return sql`
  INSERT INTO ${statisticDeltas} (${namesOf([...key, count, errors, durationMs, ...tokens, latency, dimension, value, priceClass, ...sliceSums])})
  SELECT ${namesOf(key)}, count(*), nullif(count(*) FILTER (WHERE ${nameOf(events.state)} = 'error'), 0), ${clampedSum(durationMs, false)},
    ${listOf(tokens.map((column) => sql`nullif(${clampedSum(column, false)}, 0)`))}, array_agg(element), 0, '', NULL, NULL, NULL
  FROM (
    SELECT ${namesOf([spaceId, type, source, agentId, events.state, durationMs, ...tokens])}, ${minuteOf}::bigint AS ${nameOf(minute)},
      coalesce(${nameOf(name)}, '') AS ${nameOf(name)}, ${sketchElement} AS element
    FROM new_events
  ) AS measured
  GROUP BY ${namesOf(key)}
  UNION ALL
  SELECT ${namesOf([spaceId, minute, ...names])}, NULL, 0, NULL, 0, ${listOf(tokens.map((column) => clampedSum(column, false)))}, '{}',
    ${namesOf([dimension, value, priceClass])}, ${listOf(sliceSums.map((column) => clampedSum(column, false)))}
  FROM (SELECT *, ${minuteOf}::bigint AS ${nameOf(minute)} FROM (${sliceRows(newEvents)}) AS slices) AS measured
  GROUP BY ${namesOf(ofSlice)}`;
}

/**
 * Adds the oldest deltas to the statistics, at most {@link deltasPerFoldMax}, and deletes them, in one
 * statement. Any number of writers may call it at the same time: each row is deleted, and thereby counted,
 * once. Rows of deleted spaces are only deleted.
 *
 * @returns the number of rows.
 */
export async function foldStatistics(database: Database): Promise<number> {
  const [row] = await database.execute<{ folded: number }>(foldStatement);
  return row?.folded ?? 0;
}

const byName = countByName('name_counts');
const byAgent = countByAgent('agent_counts');
const bySlice = countBySlice('slice_counts');
const isWhole = sql`WHERE ${nameOf(priceClass)} IS NULL`;

const foldStatement = sql`
WITH folded AS (
  DELETE FROM ${statisticDeltas}
  WHERE ${number} < (SELECT min(${nameOf(number)}) FROM ${statisticDeltas}) + ${numberOf(deltasPerFoldMax)}
  RETURNING *
), deltas AS MATERIALIZED (
  SELECT ${namesOf([spaceId, minute, ...sliceKey, agentId, ...added, ...sliceSums])}, array_to_string(${nameOf(latency)}, ',') AS elements
  FROM folded WHERE ${isNotDeleted(sql`folded.${nameOf(spaceId)}`)}
), ${fold({ counts: 'name_counts', dimensions: names, sums: added, where: isWhole }, byName)}, ${fold(
  {
    counts: 'agent_counts',
    dimensions: [agentId],
    sums: added,
    where: sql`${isWhole} AND ${nameOf(agentId)} IS NOT NULL`,
  },
  byAgent,
)}, ${fold(
  {
    counts: 'slice_counts',
    dimensions: sliceKey,
    sums: [...added, ...sliceSums],
    where: sql`WHERE ${nameOf(priceClass)} IS NOT NULL`,
  },
  bySlice,
)}
SELECT count(*)::integer AS folded FROM folded`;

interface FoldedCounts {
  readonly counts: string;
  readonly dimensions: readonly PgColumn[];
  readonly sums: readonly PgColumn[];
  readonly where: SQL;
}

/** The common table expressions that count deltas and add the counts to the tables. */
function fold(counts: FoldedCounts, { byMinute, byHours }: StatisticsParts): SQL {
  const [minutes, hours] = ['minutes', 'hours'].map((span) => sql.identifier(`${counts.counts}_${span}`));
  return sql`${foldedCounts(counts)}, ${minutes} AS (${byMinute()}
), ${hours} AS (${byHours()}
)`;
}

/**
 * The counts that StatisticsParts add: by minute, and from these, which are fewer, by the hours of each
 * roll-up. Sketches are merged before they are counted by hour. Sketches are joined as texts: no aggregate of
 * Postgres concatenates arrays of different lengths.
 */
function foldedCounts({ counts, dimensions, sums: columns, where }: FoldedCounts): SQL {
  const minutes = sql`${sql.identifier(`${counts}_by_minute`)}`;
  const key = namesOf([spaceId, ...dimensions]);
  const sums = listOf(columns.map((column) => sql`${sumOf(column)} AS ${nameOf(column)}`));
  const hours = hourNames.map(({ name }) => name);
  const firstHours = hourNames.map(
    ({ span, name }) =>
      sql`floor(${nameOf(minute)} / ${numberOf(60 * span)}.0)::bigint * ${numberOf(span)} AS ${name}`,
  );
  return sql`${minutes} AS MATERIALIZED (
  SELECT ${key}, ${nameOf(minute)}, ${namesOf(columns)}, ${mergedSketch(nameOf(latency))} AS ${nameOf(latency)}
  FROM (
    SELECT ${key}, ${nameOf(minute)}, ${sums}, ${joined(sql`elements`)} AS ${nameOf(latency)}
    FROM deltas ${where} GROUP BY ${key}, ${nameOf(minute)}
  ) AS each
), ${sql.identifier(counts)} AS MATERIALIZED (
  SELECT ${key}, ${nameOf(minute)}, ${listOf(hours.map((hour) => sql`NULL::bigint AS ${hour}`))}, ${namesOf([...columns, latency])} FROM ${minutes}
  UNION ALL
  SELECT ${key}, NULL, ${listOf(hours)}, ${sums}, ${joined(sql`array_to_string(${nameOf(latency)}, ',')`)}
  FROM (SELECT *, ${listOf(firstHours)} FROM ${minutes}) AS each
  GROUP BY GROUPING SETS (${listOf(hours.map((hour) => sql`(${key}, ${hour})`))})
)`;
}

function sumOf(column: PgColumn): SQL {
  // The sum of bigint is numeric.
  return sql`sum(${nameOf(column)})::${sql.raw(column.getSQLType())}`;
}

/** Slices have no sketches. */
function joined(elements: SQL): SQL {
  return sql`coalesce(string_to_array(string_agg(nullif(${elements}, ''), ','), ','), '{}')::bigint[]`;
}
