import { type SQL, sql } from 'drizzle-orm';
import { bucketOffset, bucketsPerLogMs, countBits, latencyMsMin } from '../../event/latency.ts';
import { events } from '../db/schema.ts';
import { nameOf, numberOf } from '../db/statement.ts';

/** The latency sketch of event/latency.ts in SQL. */

const duration = nameOf(events.durationMs);
const bits = numberOf(countBits);

/** The element of a sketch that counts one event. */
export const sketchElement = sql`CASE WHEN ${duration} > ${numberOf(latencyMsMin)}
      THEN ceil(ln(${duration}) * ${numberOf(bucketsPerLogMs)})::bigint + ${numberOf(bucketOffset)} ELSE 0 END << ${bits} | 1`;

/**
 * The element that counts events which were received at `received_at` and are stored now. If the clock of
 * ingest is ahead of that of Postgres, the shortest duration is counted.
 * @param count the number of events.
 */
export function delayElement(count: SQL): SQL {
  const sinceReceipt = sql`extract(epoch FROM clock_timestamp() - ${nameOf(events.receivedAt)})::float8 * 1000`;
  const bucket = sql`ceil(ln(greatest(${sinceReceipt}, ${numberOf(latencyMsMin)})) * ${numberOf(bucketsPerLogMs)})::bigint + ${numberOf(bucketOffset)}`;
  return sql`(${bucket} << ${bits}) | ${count}`;
}

/** The number of events that an element counts. */
export function countOf(element: SQL): SQL {
  return sql`(${element} & ${countMask})`;
}

/** Counts wrap around, so that the largest one subtracts an event when a sketch is merged. */
const countMask = numberOf(2 ** countBits - 1);

/** The element that counts or, by `sign`, subtracts one event. */
export const signedElement = sql`CASE WHEN sign > 0 THEN ${sketchElement} ELSE (${sketchElement}) | ${countMask} END`;

/**
 * A sketch with one element per bucket, without empty ones. Sums are in float8, which is faster than numeric,
 * and exact below 2^53, with up to 8,000 subtracted events.
 */
export function mergedSketch(sketch: SQL): SQL {
  return sql`(
      SELECT coalesce(array_agg(bucket << ${bits} | counted) FILTER (WHERE counted <> 0), '{}')
      FROM (
        SELECT element >> ${bits} AS bucket, sum((element & ${countMask})::float8)::bigint & ${countMask} AS counted
        FROM unnest(${sketch}) AS element
        GROUP BY bucket
      ) AS merged
    )`;
}
