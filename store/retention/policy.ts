import { eq, lt, min, type SQL, sql } from 'drizzle-orm';
import { dayMs } from '../../platform/time.ts';
import type { Database } from '../db/database.ts';
import { type media, type mediaUses, type quarantine, spaces, type traceNodes } from '../db/schema.ts';
import { numberOf } from '../db/statement.ts';
import { instantOf } from './literals.ts';

/** The inputs of a pass, besides the retention of each space, which can change while it runs. */
export interface ExpiryRule {
  /** The time on the retention clock, in milliseconds since the epoch. */
  readonly nowMs: number;
  readonly retentionDaysMax: number | undefined;
}

export type SpaceExpiry = Awaited<ReturnType<typeof listSpaceExpiries>>[number];

/**
 * The shorter of the space's retention and the global maximum. @returns undefined when events never expire.
 */
export function effectiveRetentionDays(
  retentionDays: number | null,
  retentionDaysMax: number | undefined,
): number | undefined {
  if (retentionDays === null) return retentionDaysMax;
  return Math.min(retentionDays, retentionDaysMax ?? retentionDays);
}

/** The receipt time before which events with this retention have expired. */
export function cutoffOf(days: number | undefined, nowMs: number): number {
  return days === undefined ? -Infinity : nowMs - days * dayMs;
}

/** When an event expires; undefined when it never does. */
export function expiryOf(receivedAtMs: number, days: number | undefined): number | undefined {
  return days === undefined ? undefined : receivedAtMs + days * dayMs;
}

/** SQL over a row of a space: NULL when events never expire. */
export function cutoffSql({ nowMs, retentionDaysMax }: ExpiryRule): SQL {
  // least() ignores NULL.
  const days = sql`least(${spaces.retentionDays}, ${numberOrNull(retentionDaysMax)})`;
  return sql`${instantOf(nowMs)} - ${days} * interval '24 hours'`;
}

export async function listSpaceExpiries(database: Database, { nowMs, retentionDaysMax }: ExpiryRule) {
  const rows = await database
    .select({ spaceId: spaces.id, retentionDays: spaces.retentionDays })
    .from(spaces)
    .orderBy(spaces.id);
  return rows.map(({ spaceId, retentionDays }) => ({
    spaceId,
    /** Events received before this time have expired. -Infinity: events never expire. */
    cutoffMs: cutoffOf(effectiveRetentionDays(retentionDays, retentionDaysMax), nowMs),
  }));
}

/** The latest cutoff of these spaces: nothing that was received later has expired. */
export function latestCutoff(expiries: readonly SpaceExpiry[]): number {
  return expiries.reduce((latest, { cutoffMs }) => Math.max(latest, cutoffMs), -Infinity);
}

/** Finds spaces by one statement: one for each of ten thousand would take minutes, nearly all in vain. */
export async function listSpacesWithExpired(
  database: Database,
  table: typeof quarantine | typeof traceNodes | typeof mediaUses | typeof media,
  expiries: readonly SpaceExpiry[],
): Promise<string[]> {
  const rows = await database
    .select({ spaceId: table.spaceId, oldest: min(table.receivedAt) })
    .from(table)
    .where(lt(table.receivedAt, new Date(latestCutoff(expiries))))
    .groupBy(table.spaceId);
  const oldestMs = new Map(rows.map(({ spaceId, oldest }) => [spaceId, oldest?.getTime()]));
  return expiries
    .filter(({ spaceId, cutoffMs }) => (oldestMs.get(spaceId) ?? Infinity) < cutoffMs)
    .map(({ spaceId }) => spaceId);
}

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
