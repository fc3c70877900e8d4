import { type SQL, sql } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { layoutOf } from '../db/layout/layout.ts';
import { segments, spaces } from '../db/schema.ts';
import { isKept, isLockConflict, raiseKept } from './delete-expired.ts';
import { segmentIdDelayMs } from './limits.ts';
import { cutoffSql, type ExpiryRule } from './policy.ts';
import { changePartitions, partitionNames } from './table-lock.ts';
import { listWeekPartitions, type WeekPartitions } from './week-partitions.ts';

export interface DroppedPartitions {
  dropped: string[];
  /** Because of long queries. The next pass tries again. */
  locked: string[];
}

/**
 * Drops partitions in which every row has expired by its space's retention. Checked again before the drop,
 * with writes locked out: a message queued for weeks may have stored a row, and a retention may have been
 * lengthened.
 * @param latestCutoffMs the latest cutoff of any space: later weeks are not looked at.
 */
export async function dropExpiredPartitions(
  database: Database,
  { rule, latestCutoffMs }: { rule: ExpiryRule; latestCutoffMs: number },
): Promise<DroppedPartitions> {
  const result: DroppedPartitions = { dropped: [], locked: [] };
  const { isCluster: onCitus } = await layoutOf(database);
  for (const week of await listWeekPartitions(database)) {
    if (latestCutoffMs < week.range.toMs + segmentIdDelayMs) continue;
    // Without its segments partition, the receipt times of the events are unknown.
    if (week.segments === undefined || (await hasKeptRows(database, week.segments, rule))) continue;
    const names = [week.events, week.segments].flatMap((name) => name ?? []);
    const outcome = await dropPartitions(database, week, { rule, onCitus });
    if (outcome !== 'kept') result[outcome].push(...names);
  }
  return result;
}

async function hasKeptRows(database: Database, partition: string, rule: ExpiryRule): Promise<boolean> {
  const rows = await database.execute(sql`SELECT 1 WHERE ${keepsRows(partition, rule)}`);
  return rows.length > 0;
}

/** Compares receipt times: a segment's id, which selects the partition, has an ingest's clock. */
function keepsRows(partition: string, rule: ExpiryRule): SQL {
  const cutoff = cutoffSql(rule);
  return sql`EXISTS (
    SELECT 1 FROM ${sql.identifier(partition)} AS ${segments} JOIN ${spaces} ON ${spaces.id} = ${segments.spaceId}
    WHERE ${cutoff} IS NULL OR ${segments.receivedAt} >= ${cutoff}
  )`;
}

async function dropPartitions(
  database: Database,
  week: WeekPartitions,
  { rule, onCitus }: { rule: ExpiryRule; onCitus: boolean },
): Promise<'dropped' | 'locked' | 'kept'> {
  try {
    await database.execute(
      changePartitions(week, {
        prepare: [sql`IF ${keepsRows(week.segments ?? '', rule)} THEN ${raiseKept}; END IF`],
        finish: [sql`DROP TABLE ${sql.join(partitionNames(week), sql`, `)}`],
        onCitus,
      }),
    );
    return 'dropped';
  } catch (error) {
    if (isLockConflict(error)) return 'locked';
    if (isKept(error)) return 'kept';
    throw error;
  }
}
