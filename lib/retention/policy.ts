import type { Database } from '../db/database.ts';
import { spaces } from '../db/schema.ts';

const dayMs = 24 * 60 * 60_000;

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

export async function listSpaceExpiries(
  database: Database,
  retentionDaysMax: number | undefined,
  nowMs: number,
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
