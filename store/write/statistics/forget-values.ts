import { randomUUIDv7 } from 'node:crypto';
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
    // Folding would add rows meanwhile.
    await transaction.execute(
      sql`LOCK TABLE ${dimensionValues}, ${sliceStats}, ${sliceStatsRollups} IN SHARE ROW EXCLUSIVE MODE`,
    );
    if (userId !== undefined) await deleteUser(transaction, spaceId, { userId, beforeMs });
    const { number, value } = dimensionValues;
    const { dimension, events, spanHours } = sliceStatsRollups;
    const forgotten = await transaction.execute<{ number: number; value: string }>(sql`
      SELECT ${number}, ${value} FROM ${dimensionValues} LEFT JOIN ${sliceStatsRollups}
        ON ${eq(sliceStatsRollups.spaceId, dimensionValues.spaceId)} AND ${dimension} = ${number}
          AND ${sliceStatsRollups.value} = '=' || ${value} AND ${eq(spanHours, Math.max(...rollupSpansHours))}
      WHERE ${eq(dimensionValues.spaceId, spaceId)}
      GROUP BY ${number}, ${value} HAVING coalesce(sum(${events}), 0) <= 0`);
    // Citus allows no function that makes ids in an UPDATE.
    const rows = JSON.stringify(forgotten.map((one) => ({ ...one, place: randomUUIDv7() })));
    const gone = sql`json_to_recordset(${rows}::json) AS gone(number smallint, value text, place text)`;
    await transaction.execute(sql`
      UPDATE ${dimensionValues} AS kept SET ${nameOf(value)} = gone.place FROM ${gone}
      WHERE kept.${nameOf(dimensionValues.spaceId)} = ${spaceId}::uuid AND kept.${nameOf(number)} = gone.number AND kept.${nameOf(value)} = gone.value`);
    for (const table of [sliceStats, sliceStatsRollups]) {
      const isGone = sql`${table.dimension} = gone.number AND ${table.value} = '=' || gone.value`;
      await transaction
        .delete(table)
        .where(and(eq(table.spaceId, spaceId), sql`EXISTS (SELECT FROM ${gone} WHERE ${isGone})`));
    }
    await note(transaction, tables);
  });
}

/** Deletes the statistics of a user until a time. */
async function deleteUser(
  transaction: Transaction,
  spaceId: string,
  { userId, beforeMs }: { userId: string; beforeMs: number },
): Promise<void> {
  const isOfUser = (table: typeof sliceStats | typeof sliceStatsRollups): SQL | undefined =>
    and(
      eq(table.spaceId, spaceId),
      eq(table.value, `=${asStored(userId)}`),
      sql`${table.dimension} IN (SELECT ${dimensions.number} FROM ${dimensions} WHERE ${eq(dimensions.spaceId, spaceId)} AND ${eq(dimensions.name, 'user')})`,
    );
  const { startHour, spanHours } = sliceStatsRollups;
  const isBefore = lt(sliceStats.minute, Math.floor(beforeMs / minuteMs));
  const hasEnded = sql`${startHour} + ${spanHours} <= ${Math.floor(beforeMs / hourMs)}::bigint`;
  await transaction.delete(sliceStats).where(and(isOfUser(sliceStats), isBefore));
  await transaction.delete(sliceStatsRollups).where(and(isOfUser(sliceStatsRollups), hasEnded));
}
