import { getTableColumns, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { eventStats, events, sliceStats } from '../../db/schema.ts';
import { nameOf } from '../../db/statement.ts';

/** The sums that statistics have. */

/** The columns of all tables that are sums over events. */
export const inMeasures = getTableColumns(eventStats);

export const tokens: readonly PgColumn[] = [
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
