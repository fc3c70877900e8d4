import { setTimeout as sleep } from 'node:timers/promises';
import { and, eq, isNotNull, isNull, ne, or, sql } from 'drizzle-orm';
import type { Database } from '../../db/database.ts';
import { noSpace } from '../../db/limits.ts';
import {
  dimensions,
  dimensionValues,
  events,
  segments,
  sliceStats,
  sliceStatsRollups,
  spaces,
} from '../../db/schema.ts';
import { compileStatement, nameOf, namesOf, numberOf } from '../../db/statement.ts';
import { untilStatementsEnded } from '../../retention/older-snapshots.ts';
import { countedBytesMax, countedSegmentsMax, removedRowsMax } from '../limits.ts';
import { insertDeltas } from './deltas.ts';
import { selectDimensions } from './space-dimensions.ts';

/**
 * Brings the dimensions of spaces to what is wanted (ADR 45): new ones count what was stored before, and the
 * statistics of removed ones are deleted. Any number of writers may call it at the same time, and each can be
 * killed at any moment: the next call continues.
 * @param signal ends it after a transaction.
 */
export async function keepDimensions(database: Database, signal: AbortSignal): Promise<void> {
  await followWanted(database);
  const open = await database
    .select()
    .from(dimensions)
    .where(and(ne(dimensions.name, ''), or(isNull(dimensions.countedAt), isNotNull(dimensions.removedAt))));
  if (open.length === 0) return;
  // Statements that do not know a new dimension, and those that still count a removed one.
  await untilStatementsEnded(database);
  for (const one of open)
    if (one.removedAt === null) await countBefore(database, one, signal);
    else await deleteStatistics(database, one, signal);
}

type Dimension = typeof dimensions.$inferSelect;

async function followWanted(database: Database): Promise<void> {
  const wanted = await database
    .select({ spaceId: spaces.id, names: spaces.dimensions })
    .from(spaces)
    .where(sql`cardinality(${spaces.dimensions}) > 0`);
  const kept = await database.select().from(dimensions).where(isNull(dimensions.removedAt));
  const namesOfSpace = new Map(wanted.map(({ spaceId, names }) => [spaceId, names]));
  for (const { spaceId, number, name } of kept)
    if (!namesOfSpace.get(spaceId)?.includes(name))
      await database
        .update(dimensions)
        .set({ removedAt: sql`now()` })
        .where(and(eq(dimensions.spaceId, spaceId), eq(dimensions.number, number)));
  const known = new Set(kept.map(({ spaceId, name }) => `${spaceId} ${name}`));
  for (const { spaceId, names } of wanted)
    for (const name of names)
      if (!known.has(`${spaceId} ${name}`)) await addDimension(database, spaceId, name);
}

/** Numbers a dimension and adds it, once: a writer that adds it at the same time chooses the same number. */
async function addDimension(database: Database, spaceId: string, name: string): Promise<void> {
  const { number, declaredAt } = dimensions;
  const ofSpace = sql`FROM ${dimensions} WHERE ${eq(dimensions.spaceId, spaceId)}`;
  const isKnown = and(eq(dimensions.name, name), isNull(dimensions.removedAt));
  await database.execute(sql`
    INSERT INTO ${dimensions} (${namesOf([dimensions.spaceId, number, dimensions.name, declaredAt])})
    SELECT ${spaceId}::uuid, (SELECT coalesce(max(${number}), 0) + 1 ${ofSpace}), ${name}::text, now()
    WHERE NOT EXISTS (SELECT ${ofSpace} AND ${isKnown})
    ON CONFLICT DO NOTHING`);
}

/**
 * Counts what was stored before the dimension was declared. Pauses after each transaction for as long as it
 * took.
 */
async function countBefore(database: Database, dimension: Dimension, signal: AbortSignal): Promise<void> {
  for (let { cursor } = dimension, isDone = false; !isDone && !signal.aborted; ) {
    const startedMs = performance.now();
    const next = await countNext(database, { ...dimension, cursor });
    isDone = next === cursor;
    cursor = next;
    await sleep(isDone ? 0 : performance.now() - startedMs);
  }
}

/**
 * Counts the next segments that the dimension has not counted. @returns the cursor; the same when there are
 * none, or another writer counts.
 */
async function countNext(database: Database, { spaceId, number, cursor }: Dimension): Promise<string | null> {
  await database.execute(sql.raw(countingBlock(spaceId, number)));
  const [counted] = await database
    .select({ cursor: dimensions.cursor })
    .from(dimensions)
    .where(and(eq(dimensions.spaceId, spaceId), eq(dimensions.number, number)));
  return counted?.cursor ?? cursor;
}

/**
 * One command of two statements: the second one begins when the row of the dimension is locked, so it sees
 * what other statements changed before.
 */
function countingBlock(space: string, dimension: number): string {
  const { spaceId, number, cursor, countedAt, removedAt } = dimensions;
  const { id, rawBytes, dimensions: known } = segments;
  const isOfSpace = sql`${nameOf(spaceId)} = ${sql.raw(`'${space}'`)}::uuid`;
  const isDimension = sql`${isOfSpace} AND ${nameOf(number)} = ${numberOf(dimension)}`;
  const isOpen = sql`${isDimension} AND ${nameOf(countedAt)} IS NULL AND ${nameOf(removedAt)} IS NULL`;
  const none = sql.raw(`'${noSpace}'`);
  const statement = sql`DO $count$
BEGIN
  PERFORM FROM ${dimensions} WHERE ${isOpen} FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN; END IF;
  WITH listed AS (
    SELECT ${nameOf(id)}, ${nameOf(rawBytes)} FROM ${segments}
    WHERE ${isOfSpace} AND ${nameOf(id)} > coalesce((SELECT ${nameOf(cursor)} FROM ${dimensions} WHERE ${isDimension}), ${none}::uuid)
      AND coalesce(${nameOf(known)}, 0) < ${numberOf(dimension)}
    ORDER BY ${nameOf(id)} LIMIT ${numberOf(countedSegmentsMax)}
  ), batch AS MATERIALIZED (
    SELECT ${nameOf(id)} FROM (SELECT ${nameOf(id)}, sum(${nameOf(rawBytes)}) OVER (ORDER BY ${nameOf(id)}) - ${nameOf(rawBytes)} AS bytes FROM listed) AS summed
    WHERE bytes < ${numberOf(countedBytesMax)}
  ), space_dimensions AS MATERIALIZED (${selectDimensions(isDimension)}
  ), measured AS (
    SELECT * FROM ${events} WHERE ${isOfSpace} AND ${nameOf(events.segmentId)} IN (SELECT ${nameOf(id)} FROM batch)
  ), deltas AS (${insertDeltas({ from: sql`measured`, isStored: false, countedBy: 'dimensions' })}
  )
  UPDATE ${dimensions} SET ${nameOf(cursor)} = coalesce((SELECT ${nameOf(id)} FROM batch ORDER BY 1 DESC LIMIT 1), ${nameOf(cursor)}),
    ${nameOf(countedAt)} = (SELECT now() WHERE NOT EXISTS (SELECT FROM batch))
  WHERE ${isDimension};
END $count$`;
  return compileStatement(statement).text;
}

async function deleteStatistics(
  database: Database,
  { spaceId, number }: Dimension,
  signal: AbortSignal,
): Promise<void> {
  for (const [table, ofDimension] of [
    [sliceStats, and(eq(sliceStats.spaceId, spaceId), eq(sliceStats.dimension, number))],
    [sliceStatsRollups, and(eq(sliceStatsRollups.spaceId, spaceId), eq(sliceStatsRollups.dimension, number))],
  ] as const)
    for (let deleted = removedRowsMax; deleted === removedRowsMax; ) {
      if (signal.aborted) return;
      const rows = await database.execute(sql`
        DELETE FROM ${table} WHERE ${ofDimension}
          AND ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE ${ofDimension} LIMIT ${removedRowsMax}))`);
      deleted = rows.count;
    }
  await database
    .delete(dimensionValues)
    .where(and(eq(dimensionValues.spaceId, spaceId), eq(dimensionValues.number, number)));
  // The row stays: its number is never used again.
  await database
    .update(dimensions)
    .set({ name: '' })
    .where(and(eq(dimensions.spaceId, spaceId), eq(dimensions.number, number)));
}
