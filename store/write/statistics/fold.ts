import { type SQL, sql } from 'drizzle-orm';
import type { Database } from '../../db/database.ts';
import { listSpacesByShard } from '../../db/layout/cluster-nodes.ts';
import { layoutOf } from '../../db/layout/layout.ts';
import { deletedSpaces, statisticDeltas } from '../../db/schema.ts';
import { nameOf, namesOf, numberOf } from '../../db/statement.ts';
import { isAmong } from '../../retention/literals.ts';
import { isNotDeleted } from '../deleted-spaces.ts';
import { deltasPerFoldMax } from '../limits.ts';
import { insertNewValues, selectKnownValues, selectOwnValues, selectValuesSeen } from './fold-dimensions.ts';
import { addHours, addMinutes, countByMinute, listStatistics, selectDeltas } from './fold-parts.ts';

/** Folding (ADR 0040): the deltas of many statements are added to the statistics at once. */

const { spaceId, number } = statisticDeltas;

/**
 * Adds deltas to the statistics, at most {@link deltasPerFoldMax}, and deletes them; on Citus, for each shard.
 * Any number of writers may call it at the same time: each row is deleted, and thereby counted, once. Rows of
 * deleted spaces are only deleted.
 * @returns the number of rows.
 * @throws on Citus, the first failure, after the shards of other nodes were folded.
 */
export async function foldStatistics(database: Database): Promise<number> {
  if ((await layoutOf(database)).isCluster) return foldShards(database);
  const [row] = await database.execute<{ folded: number }>(foldStatement);
  return row?.folded ?? 0;
}

const all = sql`true`;
const foldStatement = sql`
WITH folded AS (
  DELETE FROM ${statisticDeltas}
  -- IS TRUE makes Postgres hash the numbers: it would join them by nested loops.
  WHERE ((${namesOf([spaceId, number])}) IN (SELECT ${namesOf([spaceId, number])} FROM ${statisticDeltas} LIMIT ${numberOf(deltasPerFoldMax)})) IS TRUE
  RETURNING *
), deltas AS MATERIALIZED (${selectDeltas(sql`folded WHERE ${isNotDeleted(sql`folded.${nameOf(spaceId)}`)}`)}
), values_seen AS MATERIALIZED (${selectValuesSeen(all)}
), new_values AS (${insertNewValues(all)}
), own_values AS (${selectOwnValues}
), ${sql.join(
  listStatistics(all).map(
    (one) => sql`${countByMinute(one)}, ${sql.identifier(`${one.counts}_by_minute`)} AS (${addMinutes(one)}
), ${sql.identifier(`${one.counts}_by_hour`)} AS (${addHours(one)}
)`,
  ),
  sql`, `,
)}
SELECT count(*)::integer AS folded FROM folded`;

async function foldShards(database: Database): Promise<number> {
  let folded = 0;
  const failures: unknown[] = [];
  for (const { shard, spaceIds, failure } of await listSpacesByShard(database, statisticDeltas)) {
    try {
      if (failure !== undefined) throw new Error(failure);
      if (spaceIds.length > 0) folded += await foldShard(database, shard, spaceIds);
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
 * Folds the deltas of a shard. Citus runs no part of the statement above on a shard, but each of these, which see
 * one snapshot: the same deltas, also the statement that deletes them, which fails when one is deleted meanwhile.
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
