import { sql } from 'drizzle-orm';
import type { Database } from '../../db/database.ts';
import { isNotDeleted } from '../../db/deleted-spaces.ts';
import { layoutOf } from '../../db/layout/layout.ts';
import { statisticDeltas } from '../../db/schema.ts';
import { nameOf, namesOf, numberOf } from '../../db/statement.ts';
import { deltasPerFoldMax } from '../limits.ts';
import { foldShards } from './cluster-fold.ts';
import { insertNewValues, selectOwnValues, selectValuesSeen } from './fold-dimensions.ts';
import { addHours, addMinutes, countByMinute, listStatistics, selectDeltas } from './fold-parts.ts';

/** Folding (ADR 0040): the deltas of many statements are added to the statistics at once. */

const { spaceId, number } = statisticDeltas;

/**
 * Adds deltas to the statistics, at most {@link deltasPerFoldMax}, and deletes them; on Citus, for each
 * shard. Any number of writers may call it at the same time: each row is deleted, and thereby counted, once.
 * Rows of deleted spaces are only deleted.
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
