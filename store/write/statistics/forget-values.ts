import { and, eq, getTableName, lt, type SQL, sql } from 'drizzle-orm';
import { rollupSpansHours } from '../../../event/limits.ts';
import { asStored } from '../../../event/text.ts';
import { hourMs, minuteMs } from '../../../platform/time.ts';
import { inBoundedTransaction } from '../../db/bounded-transaction.ts';
import type { Database, Transaction } from '../../db/database.ts';
import {
  dimensions,
  dimensionValues,
  sliceStats,
  sliceStatsRollups,
  statisticDeltas,
} from '../../db/schema.ts';
import { nameOf } from '../../db/statement.ts';
import { foldStatistics } from './fold.ts';

const tables = [sliceStats, sliceStatsRollups, dimensionValues, statisticDeltas].map(getTableName);

/**
 * Deletes the statistics of the dimensions' values that no event has any more, and those of an erased user,
 * also of events that have expired. A value stays counted among the first of its dimension, without its text:
 * otherwise a value that was counted with all others would be counted on its own from now on.
 */
export async function forgetValues(
  database: Database,
  { spaceId, userId, beforeMs }: { spaceId: string; userId: string | undefined; beforeMs: number },
  note: (transaction: Transaction, tables: readonly string[]) => Promise<void>,
): Promise<void> {
  const has = await database.$count(dimensions, eq(dimensions.spaceId, spaceId));
  if (has === 0) return;
  while ((await foldStatistics(database)) > 0);
  await inBoundedTransaction(database, async (transaction) => {
    // Folding would add to rows meanwhile.
    await transaction.execute(
      sql`LOCK TABLE ${sliceStats}, ${sliceStatsRollups} IN SHARE ROW EXCLUSIVE MODE`,
    );
    if (userId !== undefined) {
      const isOfUser = (table: typeof sliceStats | typeof sliceStatsRollups): SQL | undefined =>
        and(
          eq(table.spaceId, spaceId),
          eq(table.value, `=${asStored(userId)}`),
          sql`${table.dimension} IN (SELECT ${dimensions.number} FROM ${dimensions} WHERE ${eq(dimensions.spaceId, spaceId)} AND ${eq(dimensions.name, 'user')})`,
        );
      const { startHour, spanHours } = sliceStatsRollups;
      const isBefore = lt(sliceStats.minute, Math.floor(beforeMs / minuteMs));
      await transaction.delete(sliceStats).where(and(isOfUser(sliceStats), isBefore));
      await transaction
        .delete(sliceStatsRollups)
        .where(
          and(
            isOfUser(sliceStatsRollups),
            sql`${startHour} + ${spanHours} <= ${Math.floor(beforeMs / hourMs)}::bigint`,
          ),
        );
    }
    const { number, value } = dimensionValues;
    const { dimension, events, spanHours } = sliceStatsRollups;
    const forgotten = await transaction.execute<{ number: number; value: string }>(sql`
      UPDATE ${dimensionValues} AS kept SET ${nameOf(value)} = uuidv7()::text
      FROM (
        SELECT ${number}, ${value} FROM ${dimensionValues} LEFT JOIN ${sliceStatsRollups}
          ON ${eq(sliceStatsRollups.spaceId, dimensionValues.spaceId)} AND ${dimension} = ${number}
            AND ${sliceStatsRollups.value} = '=' || ${value} AND ${eq(spanHours, Math.max(...rollupSpansHours))}
        WHERE ${eq(dimensionValues.spaceId, spaceId)}
        GROUP BY ${number}, ${value} HAVING coalesce(sum(${events}), 0) <= 0
      ) AS gone
      WHERE kept.${nameOf(dimensionValues.spaceId)} = ${spaceId}::uuid AND kept.${nameOf(number)} = gone.${nameOf(number)} AND kept.${nameOf(value)} = gone.${nameOf(value)}
      RETURNING gone.${nameOf(number)} AS number, gone.${nameOf(value)} AS value`);
    const values = sql`SELECT number, '=' || value FROM json_to_recordset(${JSON.stringify([...forgotten])}::json) AS gone(number smallint, value text)`;
    for (const table of [sliceStats, sliceStatsRollups])
      await transaction
        .delete(table)
        .where(and(eq(table.spaceId, spaceId), sql`(${table.dimension}, ${table.value}) IN (${values})`));
    await note(transaction, tables);
  });
}
