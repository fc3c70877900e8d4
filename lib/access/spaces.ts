import { eq, sql } from 'drizzle-orm';
import type { Database } from '../db/connect.ts';
import { auditLog, spaces, usageMonths } from '../db/schema.ts';

export type Space = typeof spaces.$inferSelect;
export type BillingState = Space['billingState'];

export interface SpaceChange {
  /** Events a month; null is unlimited. */
  monthlyEventLimit?: number | null;
  billingState?: BillingState;
}

/** Makes a space: by default active, and without a limit. */
export async function createSpace(
  database: Database,
  name: string,
  settings: SpaceChange = {},
): Promise<Space> {
  return database.transaction(async (transaction) => {
    const [space] = await transaction
      .insert(spaces)
      .values({ name, ...settings })
      .returning();
    if (space === undefined) throw new Error('INSERT returned no space');
    await transaction.insert(auditLog).values({
      spaceId: space.id,
      actor: 'operator',
      action: 'space.create',
      details: { name, ...settings },
    });
    return space;
  });
}

/**
 * Changes a space's quota or billing state. Ingest follows within a second (a trigger notifies it).
 *
 * @returns undefined when there is no such space.
 */
export async function changeSpace(
  database: Database,
  spaceId: string,
  change: SpaceChange,
): Promise<Space | undefined> {
  return database.transaction(async (transaction) => {
    const [space] = await transaction.update(spaces).set(change).where(eq(spaces.id, spaceId)).returning();
    if (space === undefined) return undefined;
    await transaction
      .insert(auditLog)
      .values({ spaceId, actor: 'operator', action: 'space.change', details: { ...change } });
    return space;
  });
}

export async function listSpaces(database: Database): Promise<Space[]> {
  return database.select().from(spaces).orderBy(spaces.id);
}

/** The space's usage of one UTC month, `YYYY-MM`: rows stored, and the limit they count against. */
export interface Usage {
  spaceId: string;
  month: string;
  events: number;
  monthlyEventLimit: number | null;
  /** The first instant of the next month, ISO 8601: when the count starts anew. */
  resetsAt: string;
}

/** @returns undefined when there is no such space. */
export async function readUsage(
  database: Database,
  spaceId: string,
  now = new Date(),
): Promise<Usage | undefined> {
  const month = monthOf(now.getTime());
  const [row] = await database
    .select({ limit: spaces.monthlyEventLimit, events: usageMonths.events })
    .from(spaces)
    .leftJoin(usageMonths, sql`${usageMonths.spaceId} = ${spaces.id} AND ${usageMonths.month} = ${month}`)
    .where(eq(spaces.id, spaceId));
  if (row === undefined) return undefined;
  return {
    spaceId,
    month,
    events: row.events ?? 0,
    monthlyEventLimit: row.limit,
    resetsAt: monthEnd(now.getTime()),
  };
}

/** The UTC month of an instant, as `usage_months.month` has it. */
export function monthOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 7);
}

/** The first instant of the month after, ISO 8601. */
export function monthEnd(timeMs: number): string {
  const now = new Date(timeMs);
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)).toISOString();
}
