import { sql } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { hasCitus } from '../db/distribution.ts';
import { segments } from '../db/schema.ts';
import { isLockConflict } from './expired-segments.ts';
import { segmentIdDelayMs } from './limits.ts';
import { isAmong } from './literals.ts';
import type { SpaceExpiry } from './policy.ts';
import { changePartitions, partitionNames } from './table-lock.ts';
import { listWeekPartitions, type WeekPartitions } from './week-partitions.ts';

export interface DroppedPartitions {
  /** The partitions that are gone. */
  dropped: string[];
  /** Partitions that could not be locked, because of queries that take long. The next pass tries again. */
  locked: string[];
}

/** Drops the partitions in which every row has expired. The rows of spaces that keep theirs for longer stay, with their partition. */
export async function dropExpiredPartitions(
  database: Database,
  spaces: readonly SpaceExpiry[],
): Promise<DroppedPartitions> {
  const result: DroppedPartitions = { dropped: [], locked: [] };
  for (const week of await listWeekPartitions(database)) {
    const keepers = findKeepers(spaces, week);
    if (keepers.length === spaces.length || (await hasRowsOf(database, week, keepers))) continue;
    const names = [week.events, week.segments].flatMap((name) => name ?? []);
    const isDropped = await dropPartitions(database, week, keepers);
    (isDropped ? result.dropped : result.locked).push(...names);
  }
  return result;
}

/** The spaces of which a row in the partition may not have expired. */
function findKeepers(spaces: readonly SpaceExpiry[], { range }: WeekPartitions): string[] {
  return spaces
    .filter(({ cutoffMs }) => cutoffMs < range.toMs + segmentIdDelayMs)
    .map(({ spaceId }) => spaceId);
}

/** @returns true where there is no partition of segments, so that an unknown one is kept. */
async function hasRowsOf(
  database: Database,
  week: WeekPartitions,
  spaceIds: readonly string[],
): Promise<boolean> {
  if (week.segments === undefined) return true;
  if (spaceIds.length === 0) return false;
  const rows = await database.execute(sql`
    SELECT 1 FROM ${sql.identifier(week.segments)} WHERE ${isAmong(segments.spaceId, spaceIds)} LIMIT 1`);
  return rows.length > 0;
}

/** @returns false when the partition could not be locked. */
async function dropPartitions(
  database: Database,
  week: WeekPartitions,
  keepers: readonly string[],
): Promise<boolean> {
  // A message that was queued for weeks may have stored a row of such a space meanwhile.
  const isKept = sql`IF EXISTS (
    SELECT 1 FROM ${sql.identifier(week.segments ?? '')} WHERE ${isAmong(segments.spaceId, keepers)}
  ) THEN RETURN; END IF`;
  try {
    await database.execute(
      changePartitions(week, {
        prepare: keepers.length === 0 ? [] : [isKept],
        finish: [sql`DROP TABLE ${sql.join(partitionNames(week), sql`, `)}`],
        onCitus: await hasCitus(database),
      }),
    );
    return true;
  } catch (error) {
    if (isLockConflict(error)) return false;
    throw error;
  }
}
