import { getTableColumns, type SQL, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { agentStats, agentStatsRollups, eventStats, eventStatsRollups, events } from '../db/schema.ts';
import { listOf, nameOf, namesOf } from '../db/statement.ts';
import { bucketOffset, bucketsPerLogMs, countBits, latencyMsMin } from '../event/latency.ts';
import { rollupSpansHours } from '../event/limits.ts';

/**
 * The parts of the store statement that count its new events in the statistics (`new_events`): first by key and bucket of
 * the latency sketch, once for each event; then these counts are added up by minute, and by the hours of the roll-ups.
 */

/** The columns of all tables that are sums over events. */
export const inMeasures = getTableColumns(eventStats);

const tokens = [
  inMeasures.inputTokens,
  inMeasures.outputTokens,
  inMeasures.totalTokens,
  inMeasures.cacheReadTokens,
  inMeasures.cacheWriteTokens,
  inMeasures.reasoningTokens,
];
/** Sums that are null where there is nothing to count. */
const sparse = [inMeasures.errors, ...tokens];
const sums = [inMeasures.durationMs, ...tokens];

const minuteOf = sql`floor(${nameOf(events.startTimeMs)} / 60000)::bigint`;

const bucket = sql`CASE WHEN ${nameOf(events.durationMs)} > ${number(latencyMsMin)}
  THEN ceil(ln(${nameOf(events.durationMs)}) * ${number(bucketsPerLogMs)})::bigint + ${number(bucketOffset)} ELSE 0 END`;

/** The parts of the statement for one kind of statistics. Each is the inside of a common table expression. */
export interface StatisticsParts {
  /** The new events, counted by minute, key and bucket of the sketch. */
  readonly counts: SQL;
  readonly byMinute: SQL;
  readonly byHours: SQL;
}

/** @param counts the name that the statement gives to the counts. */
export function countByName(counts: string): StatisticsParts {
  const { type, name, source } = eventStats;
  return statisticsParts({
    counts,
    minutes: eventStats,
    rollups: eventStatsRollups,
    dimensions: [
      [type, nameOf(type)],
      [name, sql`coalesce(${nameOf(name)}, '')`],
      [source, nameOf(source)],
    ],
    where: sql``,
  });
}

/** @param counts the name that the statement gives to the counts. */
export function countByAgent(counts: string): StatisticsParts {
  const { agentId } = agentStats;
  return statisticsParts({
    counts,
    minutes: agentStats,
    rollups: agentStatsRollups,
    dimensions: [[agentId, nameOf(agentId)]],
    where: sql`WHERE ${nameOf(agentId)} IS NOT NULL`,
  });
}

interface Statistics {
  readonly counts: string;
  readonly minutes: typeof eventStats | typeof agentStats;
  readonly rollups: typeof eventStatsRollups | typeof agentStatsRollups;
  /** The columns of the key beside space and time, which both tables name alike, and their values in `new_events`. */
  readonly dimensions: readonly (readonly [PgColumn, SQL])[];
  readonly where: SQL;
}

function statisticsParts({ counts, minutes, rollups, dimensions, where }: Statistics): StatisticsParts {
  const { events: count, durationMs, errors } = inMeasures;
  const { spaceId, minute } = minutes;
  const { spanHours, startHour } = rollups;
  const counted = sql`${sql.identifier(counts)}`;
  const names = namesOf(dimensions.map(([column]) => column));
  const span = nameOf(spanHours);
  return {
    counts: sql`
  SELECT ${nameOf(spaceId)}, ${minuteOf} AS ${nameOf(minute)},
    ${listOf(dimensions.map(([column, value]) => sql`${value} AS ${nameOf(column)}`))}, ${bucket} AS bucket,
    count(*) AS ${nameOf(count)}, count(*) FILTER (WHERE ${nameOf(events.state)} = 'error') AS ${nameOf(errors)},
    ${clampedSum(durationMs)} AS ${nameOf(durationMs)},
    ${listOf(tokens.map((column) => sql`nullif(${clampedSum(column)}, 0) AS ${nameOf(column)}`))}
  FROM new_events ${where}
  GROUP BY ${listOf([nameOf(spaceId), minuteOf, ...dimensions.map(([, value]) => value), bucket])}`,
    byMinute: upsert(minutes, sql`${nameOf(spaceId)}, ${nameOf(minute)}, ${names}`, counted),
    byHours: upsert(
      rollups,
      sql`${nameOf(spaceId)}, ${span}, ${nameOf(startHour)}, ${names}`,
      sql`(
    SELECT ${nameOf(spaceId)}, ${span}, floor(${nameOf(minute)} / (60.0 * ${span}))::bigint * ${span} AS ${nameOf(startHour)},
      ${names}, bucket, ${listOf([count, ...sparse, durationMs].map(summed))}
    FROM ${counted} CROSS JOIN (VALUES ${listOf(rollupSpansHours.map((hours) => sql`(${number(hours)})`))}) AS span(${span})
    GROUP BY 1, 2, 3, ${names}, bucket
  )`,
    ),
  };
}

/** The sum of a column of the counts, as its type. */
function summed(column: PgColumn): SQL {
  return sql`sum(${nameOf(column)})::${sql.raw(column.getSQLType())} AS ${nameOf(column)}`;
}

/** Adds counts by key and bucket to the rows of the keys. */
function upsert(table: PgTable, key: SQL, counts: SQL): SQL {
  const { events: count, durationMs, errors, latency } = inMeasures;
  return sql`
  INSERT INTO ${table} AS kept (${key}, ${namesOf([count, errors, ...sums, latency])})
  SELECT ${key}, sum(${nameOf(count)}), nullif(sum(${nameOf(errors)}), 0),
    ${listOf(sums.map((column) => sql`sum(${nameOf(column)})`))},
    array_agg(bucket << ${number(countBits)} | ${nameOf(count)} ORDER BY bucket)
  FROM ${counts} AS counted
  GROUP BY ${key} ORDER BY ${key}
  ON CONFLICT (${key}) DO UPDATE SET
    ${listOf([addTo(count), addTo(durationMs), ...sparse.map(addToSparse), mergeSketch(latency)])}`;
}

/** A client may claim any finite number. It is clamped, because sums must stay finite too. */
function clampedSum(column: PgColumn): SQL {
  const name = nameOf(column);
  // greatest() and least() ignore a NULL.
  return sql`sum(least(greatest(${name}, -1e15), 1e15)) FILTER (WHERE ${name} IS NOT NULL)`;
}

/** Adds to a counter of the row that is there. */
export function addTo(column: PgColumn): SQL {
  return sql`${nameOf(column)} = kept.${nameOf(column)} + excluded.${nameOf(column)}`;
}

function addToSparse(column: PgColumn): SQL {
  const [kept, excluded] = [sql`kept.${nameOf(column)}`, sql`excluded.${nameOf(column)}`];
  return sql`${nameOf(column)} = coalesce(${kept} + ${excluded}, ${kept}, ${excluded})`;
}

function mergeSketch(column: PgColumn): SQL {
  return sql`${nameOf(column)} = (
      SELECT array_agg(bucket << ${number(countBits)} | counted ORDER BY bucket)
      FROM (
        SELECT element >> ${number(countBits)} AS bucket, sum(element & ${number(2 ** countBits - 1)})::bigint AS counted
        FROM unnest(kept.${nameOf(column)} || excluded.${nameOf(column)}) AS element
        GROUP BY bucket
      ) AS merged
    )`;
}

/** A constant of ours in the text of the statement. */
function number(value: number): SQL {
  return sql.raw(String(value));
}
