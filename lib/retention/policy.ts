import { eq, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { spaces } from '../db/schema.ts';
import { numberOf } from '../db/statement.ts';
import { instantOf } from './literals.ts';

const dayMs = 24 * 60 * 60_000;

/** What a pass deletes by, beside the retention of each space, which can change while it runs. */
export interface ExpiryRule {
  /** The time by which events expire. */
  readonly nowMs: number;
  /** RETENTION_DAYS_MAX. */
  readonly retentionDaysMax: number | undefined;
}

/** Until when the events of a space have expired. */
export interface SpaceExpiry {
  readonly spaceId: string;
  /** Events that were received before, in milliseconds since the epoch, have expired. -Infinity: none ever does. */
  readonly cutoffMs: number;
}

/**
 * The days for which a space's events are kept: its own retention, or the maximum for all spaces if that is shorter.
 *
 * @returns undefined when they are kept for ever.
 */
export function effectiveRetentionDays(
  retentionDays: number | null,
  retentionDaysMax: number | undefined,
): number | undefined {
  if (retentionDays === null) return retentionDaysMax;
  return Math.min(retentionDays, retentionDaysMax ?? retentionDays);
}

/** The instant before which events that are kept for so many days have expired. */
export function cutoffOf(days: number | undefined, nowMs: number): number {
  return days === undefined ? -Infinity : nowMs - days * dayMs;
}

/** The instant at which an event that was received then expires; undefined is never. */
export function expiryOf(receivedAtMs: number, days: number | undefined): number | undefined {
  return days === undefined ? undefined : receivedAtMs + days * dayMs;
}

/** The cutoff in SQL, of the row of a space as it is when the statement runs: NULL when no event ever expires. */
export function cutoffSql({ nowMs, retentionDaysMax }: ExpiryRule): SQL {
  // least() ignores NULL.
  const days = sql`least(${spaces.retentionDays}, ${numberOrNull(retentionDaysMax)})`;
  return sql`${instantOf(nowMs)} - ${days} * interval '24 hours'`;
}

/** All spaces, with their cutoffs at this moment. */
export async function listSpaceExpiries(
  database: Database,
  { nowMs, retentionDaysMax }: ExpiryRule,
): Promise<SpaceExpiry[]> {
  const rows = await database
    .select({ spaceId: spaces.id, retentionDays: spaces.retentionDays })
    .from(spaces)
    .orderBy(spaces.id);
  return rows.map(({ spaceId, retentionDays }) => ({
    spaceId,
    cutoffMs: cutoffOf(effectiveRetentionDays(retentionDays, retentionDaysMax), nowMs),
  }));
}

/** The cutoff of a space at this moment. */
export async function readCutoff(database: Database, spaceId: string, rule: ExpiryRule): Promise<number> {
  const [row] = await database
    .select({ retentionDays: spaces.retentionDays })
    .from(spaces)
    .where(eq(spaces.id, spaceId));
  if (row === undefined) return -Infinity;
  return cutoffOf(effectiveRetentionDays(row.retentionDays, rule.retentionDaysMax), rule.nowMs);
}

function numberOrNull(value: number | undefined): SQL {
  return value === undefined ? sql`NULL::integer` : numberOf(value);
}
