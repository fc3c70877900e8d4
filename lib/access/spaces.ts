import { eq } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { auditLog, spaces } from '../db/schema.ts';

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
