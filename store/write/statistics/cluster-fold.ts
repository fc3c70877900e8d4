import { type SQL, sql } from 'drizzle-orm';
import type { Database } from '../../db/database.ts';
import { listShardsByNode } from '../../db/layout/cluster-nodes.ts';
import { deletedSpaces, statisticDeltas } from '../../db/schema.ts';
import { nameOf } from '../../db/statement.ts';
import { isAmong } from '../../retention/literals.ts';
import { deltasPerFoldMax } from '../limits.ts';
import { insertNewValues, selectKnownValues, selectValuesSeen } from './fold-dimensions.ts';
import { addHours, addMinutes, countByMinute, listStatistics, selectDeltas } from './fold-parts.ts';

/** Folding on Citus (ADR 40). */

const { spaceId, number } = statisticDeltas;

/**
 * Folds the deltas of each shard.
 *
 * @throws the first failure, after the shards of other nodes were folded.
 */
export async function foldShards(database: Database): Promise<number> {
  let folded = 0;
  const failures: unknown[] = [];
  for (const listShards of await listShardsByNode(database, statisticDeltas)) {
    try {
      for (const { shard, spaceIds } of await listShards())
        folded += await foldShard(database, shard, spaceIds);
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  return folded;
}

/** Any number, together with that of a shard. */
const foldLock = 400_040;

/**
 * Folds the deltas of a shard. Citus runs no part of the one statement (fold.ts) on a shard, but each of
 * these, which see one snapshot: the same deltas, also the statement that deletes them, which fails when one
 * is deleted meanwhile.
 */
function foldShard(database: Database, shard: string, spaceIds: readonly string[]): Promise<number> {
  return database.transaction(
    async (transaction) => {
      // Writers take turns. The snapshot is that of the first statement which reaches the shard.
      await transaction.execute(sql`SELECT pg_advisory_xact_lock(${foldLock}::integer, ${shard}::integer)`);
      const ofShard = isAmong(spaceId, spaceIds);
      const [last] = await transaction.execute<{ number: string }>(sql`
        SELECT ${number} FROM ${statisticDeltas} WHERE ${ofShard} ORDER BY 1 OFFSET ${deltasPerFoldMax - 1} LIMIT 1`);
      const areFirst =
        last === undefined ? ofShard : sql`${ofShard} AND ${nameOf(number)} <= ${last.number}::bigint`;
      const gone = await transaction
        .select({ id: deletedSpaces.spaceId })
        .from(deletedSpaces)
        .where(isAmong(deletedSpaces.spaceId, spaceIds));
      const kept = spaceIds.filter((one) => !gone.some(({ id }) => id === one));
      // Citus refuses them without any.
      const statements = kept.length === 0 ? [] : addStatements(isAmong(spaceId, kept), areFirst);
      for (const statement of statements) await transaction.execute(statement);
      return (await transaction.delete(statisticDeltas).where(areFirst)).count;
    },
    { isolationLevel: 'repeatable read' },
  );
}

/** Each counts the deltas for itself: Citus copies the result of a statement to the coordinator. */
function addStatements(areFolded: SQL, areFirst: SQL): SQL[] {
  const deltas = sql`WITH deltas AS (${selectDeltas(sql`${statisticDeltas} WHERE ${areFolded} AND ${areFirst}`)}
)`;
  return [
    insertNewValues(areFolded, sql`${deltas}, values_seen AS (${selectValuesSeen(areFolded)}) `),
    ...listStatistics(areFolded).flatMap((one) => {
      const counts = sql`${deltas}, own_values AS (${selectKnownValues(areFolded)}), ${countByMinute(one)} `;
      return [addMinutes(one, counts), addHours(one, counts)];
    }),
  ];
}
