import { count, countDistinct, desc, max, min } from 'drizzle-orm';
import type { Database } from '../../../store/db/database.ts';
import { quarantine } from '../../../store/db/schema.ts';
import { listedMax } from './limits.ts';

/** Rejected events of all spaces with one SQLSTATE. Messages of Postgres are left out: they can quote values of events. */
export interface QuarantineReason {
  readonly sqlstate: string;
  readonly entries: number;
  readonly spaces: number;
  readonly oldestAt: string;
  readonly newestAt: string;
}

export async function readQuarantineReasons(database: Database): Promise<QuarantineReason[]> {
  const { sqlstate, spaceId, quarantinedAt } = quarantine;
  const rows = await database
    .select({
      sqlstate,
      entries: count(),
      spaces: countDistinct(spaceId),
      oldestAt: min(quarantinedAt),
      newestAt: max(quarantinedAt),
    })
    .from(quarantine)
    .groupBy(sqlstate)
    .orderBy(desc(count()))
    .limit(listedMax);
  return rows.map(({ oldestAt, newestAt, ...reason }) => ({
    ...reason,
    oldestAt: oldestAt?.toISOString() ?? '',
    newestAt: newestAt?.toISOString() ?? '',
  }));
}
