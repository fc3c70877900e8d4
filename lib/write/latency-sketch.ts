import { type SQL, sql } from 'drizzle-orm';
import { events } from '../db/schema.ts';
import { nameOf, numberOf } from '../db/statement.ts';
import { bucketOffset, bucketsPerLogMs, countBits, latencyMsMin } from '../event/latency.ts';

/** The latency sketch of lib/event/latency.ts in SQL. */

const duration = nameOf(events.durationMs);
const bits = numberOf(countBits);

/** The element of a sketch that counts one event. */
export const sketchElement = sql`CASE WHEN ${duration} > ${numberOf(latencyMsMin)}
      THEN ceil(ln(${duration}) * ${numberOf(bucketsPerLogMs)})::bigint + ${numberOf(bucketOffset)} ELSE 0 END << ${bits} | 1`;

/** A sketch with one element per bucket. Sums are in float8, which is faster than numeric, and exact: counts are below 2^53. */
export function mergedSketch(sketch: SQL): SQL {
  return sql`(
      SELECT array_agg(bucket << ${bits} | counted)
      FROM (
        SELECT element >> ${bits} AS bucket, sum((element & ${numberOf(2 ** countBits - 1)})::float8)::bigint AS counted
        FROM unnest(${sketch}) AS element
        GROUP BY bucket
      ) AS merged
    )`;
}
