import { type SQL, sql } from 'drizzle-orm';
import { eventStats, eventStatsRollups, events } from '../db/schema.ts';
import { listOf, nameOf } from '../db/statement.ts';
import { bucketOffset, countBits } from '../event/latency.ts';
import { rollupSpansHours } from '../event/limits.ts';
import { inMeasures } from '../write/statistics.ts';

/**
 * How events were counted before there was the ledger of ids: without source and agent, and with a histogram of durations, of which the
 * migration has made a sketch. Such counts lie in rows without a source.
 */

const tokenNames = ['inputTokens', 'outputTokens', 'totalTokens'] as const;
const tokens = tokenNames.map((name) => inMeasures[name]);

/** The bounds of the histogram, and the durations that the migration took for its buckets. They do not change. */
const boundsMs = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000,
];
const meansMs = [
  0.5, 1.41, 3.16, 7.07, 14.1, 31.6, 70.7, 141, 316, 707, 1_414, 3_162, 7_071, 14_142, 31_623, 70_711,
  141_421, 316_228, 707_107,
];

const array = (values: readonly number[]) => sql.raw(`ARRAY[${values.join()}]::float8[]`);
const bits = sql.raw(String(countBits));
const mask = sql.raw(String(2 ** countBits - 1));

/**
 * The statements that take events out of the counts of then. What other events of then have left stays: those that
 * have expired or were erased.
 *
 * @param ofEvents the condition on `events`.
 */
export function subtractOldCounts(spaceId: string, ofEvents: SQL): SQL[] {
  const hours = sql`(VALUES ${listOf(rollupSpansHours.map((span) => sql`(${sql.raw(String(span))})`))}) AS span(hours)`;
  return [
    subtract(eventStats, {
      gone: countGone(ofEvents),
      key: sql`minute`,
      from: sql`counted`,
      isKept: sql`kept.${nameOf(eventStats.minute)} = gone.minute AND kept.${nameOf(eventStats.spaceId)} = ${spaceId}::uuid`,
    }),
    subtract(eventStatsRollups, {
      gone: countGone(ofEvents),
      key: sql`hours, floor(minute / (60.0 * hours))::bigint * hours`,
      from: sql`counted CROSS JOIN ${hours}`,
      isKept: sql`kept.${nameOf(eventStatsRollups.startHour)} = gone.start AND kept.${nameOf(eventStatsRollups.spanHours)} = gone.hours
        AND kept.${nameOf(eventStatsRollups.spaceId)} = ${spaceId}::uuid`,
    }),
  ];
}

/** Deletes the rows of then in which nothing is counted any more. */
export function deleteEmptyCounts(spaceId: string): SQL[] {
  return [eventStats, eventStatsRollups].map(
    (table) =>
      sql`DELETE FROM ${table} WHERE ${table.spaceId} = ${spaceId}::uuid AND ${table.source} = '' AND ${table.events} <= 0`,
  );
}

function countGone(ofEvents: SQL): SQL {
  const { durationMs, startTimeMs, type, name, state } = events;
  const clamped = (column: SQL) =>
    sql`coalesce(sum(least(greatest(${column}, -1e15), 1e15)) FILTER (WHERE ${column} IS NOT NULL), 0)`;
  return sql`
    SELECT floor(${startTimeMs} / 60000)::bigint AS minute, ${type} AS type, coalesce(${name}, '') AS name,
      ceil(ln((${array(meansMs)})[width_bucket(${durationMs}, ${array(boundsMs)}) + 1]) / ln(21.0::float8 / 19))::bigint
        + ${sql.raw(String(bucketOffset))} AS bucket,
      count(*) AS events, count(*) FILTER (WHERE ${state} = 'error') AS errors, ${clamped(sql`${durationMs}`)} AS duration,
      ${listOf(tokenNames.map((one) => sql`${clamped(sql`${events[one]}`)} AS ${nameOf(inMeasures[one])}`))}
    FROM ${events} WHERE ${ofEvents}
    GROUP BY 1, 2, 3, 4`;
}

interface Subtraction {
  /** Counts by minute, type, name and bucket. */
  readonly gone: SQL;
  /** The expressions for the key of the table, of `from`. */
  readonly key: SQL;
  readonly from: SQL;
  readonly isKept: SQL;
}

function subtract(
  table: typeof eventStats | typeof eventStatsRollups,
  { gone, key, from, isKept }: Subtraction,
): SQL {
  const { events: count, errors, durationMs, latency } = inMeasures;
  const keyNames = table === eventStats ? sql`minute` : sql`hours, start`;
  const kept = (column: typeof count | typeof errors | (typeof tokens)[number]) =>
    sql`coalesce(kept.${nameOf(column)}, 0)`;
  return sql`
  WITH counted AS (${gone}), keyed(${keyNames}, type, name, bucket, events, errors, duration, ${listOf(tokens.map(nameOf))}) AS (
    SELECT ${key}, type, name, bucket, events, errors, duration, ${listOf(tokens.map(nameOf))} FROM ${from}
  ), buckets AS (
    SELECT ${keyNames}, type, name, bucket, sum(events)::bigint AS events, sum(errors)::bigint AS errors, sum(duration) AS duration,
      ${listOf(tokens.map((column) => sql`sum(${nameOf(column)}) AS ${nameOf(column)}`))}
    FROM keyed GROUP BY ${keyNames}, type, name, bucket
  ), gone AS (
    SELECT ${keyNames}, type, name, sum(events)::bigint AS events, sum(errors)::bigint AS errors, sum(duration) AS duration,
      ${listOf(tokens.map((column) => sql`sum(${nameOf(column)}) AS ${nameOf(column)}`))},
      array_agg(bucket << ${bits} | events) AS latency
    FROM buckets GROUP BY ${keyNames}, type, name
  )
  UPDATE ${table} AS kept SET
    ${nameOf(count)} = kept.${nameOf(count)} - gone.events,
    ${nameOf(errors)} = nullif(${kept(errors)} - gone.errors, 0),
    ${nameOf(durationMs)} = kept.${nameOf(durationMs)} - gone.duration,
    ${listOf(tokens.map((column) => sql`${nameOf(column)} = nullif(${kept(column)} - gone.${nameOf(column)}, 0)`))},
    ${nameOf(latency)} = (
      SELECT coalesce(array_agg(bucket << ${bits} | counted ORDER BY bucket), '{}') FROM (
        SELECT bucket, sum(counted)::bigint AS counted FROM (
          SELECT element >> ${bits} AS bucket, element & ${mask} AS counted FROM unnest(kept.${nameOf(latency)}) AS element
          UNION ALL SELECT element >> ${bits}, -(element & ${mask}) FROM unnest(gone.latency) AS element
        ) AS elements GROUP BY bucket
      ) AS left_over WHERE counted > 0
    )
  FROM gone
  WHERE ${isKept} AND kept.${nameOf(table.type)} = gone.type AND kept.${nameOf(table.name)} = gone.name AND kept.${nameOf(table.source)} = ''`;
}
