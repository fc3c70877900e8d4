import { and, gte, lt, sql } from 'drizzle-orm';
import { z } from 'zod';
import { dayMs } from '../../../platform/time.ts';
import { dayOf } from '../../../store/accounts/month.ts';
import type { Database } from '../../../store/db/database.ts';
import { retentionClock, spaces, usageDays } from '../../../store/db/schema.ts';
import { effectiveRetentionDays } from '../../../store/retention/policy.ts';
import { expiringDays, listedMax } from './limits.ts';

export const retentionState = z
  .object({
    /** RETENTION_DAYS_MAX of the dashboard API; null: unlimited. */
    retentionDaysMax: z.number().nullable(),
    /** The start of a writer's last pass; null before the first. */
    lastPassAt: z.iso.datetime().nullable(),
    /** How far the clock of retention was behind the machine's clock then. */
    lagMs: z.number().nullable(),
    /** Retentions in use, that of the most spaces first. */
    policies: z.array(
      z.object({
        /** Null: forever. */
        days: z.number().nullable(),
        spaces: z.number(),
        cutoff: z.iso.datetime().nullable(),
        /** Events received on the days that expire within the next 7 days. */
        expiringEvents: z.number().nullable(),
      }),
    ),
  })
  .meta({ id: 'RetentionState' });
type RetentionState = z.infer<typeof retentionState>;

/** Reads a few hundred rows of usage for each space, and no event. */
export async function readRetentionState(
  database: Database,
  retentionDaysMax: number | undefined,
): Promise<RetentionState> {
  const [clock] = await database.select().from(retentionClock);
  const rows = await database.select({ id: spaces.id, days: spaces.retentionDays }).from(spaces);
  const byDays = [
    ...Map.groupBy(rows, ({ days }) => effectiveRetentionDays(days, retentionDaysMax) ?? null),
  ].toSorted(([, a], [, b]) => b.length - a.length);
  const nowMs = clock?.time.getTime() ?? Date.now();
  const policies: RetentionState['policies'] = [];
  for (const [days, own] of byDays.slice(0, listedMax)) {
    const cutoffMs = days === null ? undefined : nowMs - days * dayMs;
    policies.push({
      days,
      spaces: own.length,
      cutoff: cutoffMs === undefined ? null : new Date(cutoffMs).toISOString(),
      expiringEvents:
        cutoffMs === undefined
          ? null
          : await countReceived(
              database,
              own.map(({ id }) => id),
              cutoffMs,
            ),
    });
  }
  return {
    retentionDaysMax: retentionDaysMax ?? null,
    lastPassAt: clock?.passedAt.toISOString() ?? null,
    lagMs: clock === undefined ? null : clock.passedAt.getTime() - clock.time.getTime(),
    policies,
  };
}

/** The events that were received on the `expiringDays` days from a time on. */
async function countReceived(database: Database, spaceIds: string[], fromMs: number): Promise<number> {
  const [row] = await database
    .select({ events: sql<number>`coalesce(sum(${usageDays.events}), 0)::float8` })
    .from(usageDays)
    .where(
      and(
        // One parameter: Postgres takes 65,535 at most.
        sql`${usageDays.spaceId} = ANY (${`{${spaceIds.join()}}`}::uuid[])`,
        gte(usageDays.day, dayOf(fromMs)),
        lt(usageDays.day, dayOf(fromMs + expiringDays * dayMs)),
      ),
    );
  return row?.events ?? 0;
}
