import { and, eq, inArray, isNull, sql } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { memberships, spaces } from '../db/schema.ts';
import { insertBelow, namesOf } from '../db/statement.ts';
import { type Actor, operator, runAudited } from './audit/audit.ts';
import type { Role } from './role.ts';

export type Space = typeof spaces.$inferSelect;
export type BillingState = Space['billingState'];

type Changeable = 'monthlyEventLimit' | 'billingState' | 'retentionDays' | 'plan' | 'dimensions';
export type SpaceChange = Partial<Pick<Space, Changeable>>;

/** Creates a space for the operator, by default active and without a limit. */
export async function createSpace(
  database: Database,
  name: string,
  settings: SpaceChange = {},
): Promise<Space> {
  const created = database.$with('created').as(
    database
      .insert(spaces)
      .values({ name, ...settings })
      .returning(),
  );
  const details = { name, ...settings };
  const entry = { spaceId: created.id, actor: operator, action: 'space.create', details };
  const [space] = await runAudited(database, created, entry);
  if (space === undefined) throw new Error('INSERT returned no space');
  return space;
}

/** The actor is the owner. @returns undefined when the actor owns `ownedMax` spaces. */
export async function createOwnedSpace(
  database: Database,
  {
    name,
    settings,
    owner,
    ownedMax,
  }: { name: string; settings: SpaceChange; owner: Actor; ownedMax: number },
): Promise<string | undefined> {
  const role: Role = 'owner';
  const isOwned = and(eq(memberships.userId, owner.id), eq(memberships.role, role));
  const counted = sql`SELECT count(*) FROM ${memberships} WHERE ${isOwned}`;
  const created = database.$with('created', { id: spaces.id }).as(sql`
    ${insertBelow(spaces, { name, ...settings }, { counted, max: ownedMax })}
    RETURNING ${namesOf([spaces.id])}`);
  const joined = database.$with('joined', {}).as(sql`
    INSERT INTO ${memberships} (${namesOf([memberships.spaceId, memberships.userId, memberships.role])})
    SELECT ${created.id}, ${owner.id}::uuid, ${role}::text FROM ${created}`);
  const details = { name, ...settings };
  const entry = { spaceId: created.id, actor: owner, action: 'space.create', details, after: [joined] };
  const [space] = await runAudited(database, created, entry);
  return space?.id;
}

/**
 * A trigger tells ingest within a second; a writer's next pass reads the retention. @returns undefined
 * without the space.
 */
export async function changeSpace(
  database: Database,
  spaceId: string,
  { actor = operator, ...change }: SpaceChange & { name?: string; actor?: Actor },
): Promise<Space | undefined> {
  const changed = database
    .$with('changed')
    .as(database.update(spaces).set(change).where(eq(spaces.id, spaceId)).returning());
  const [space] = await runAudited(database, changed, {
    spaceId: changed.id,
    actor,
    action: 'space.change',
    details: { ...change },
  });
  return space;
}

/** @returns undefined when the space does not exist. */
export async function readSpace(database: Database, spaceId: string): Promise<Space | undefined> {
  const [space] = await database.select().from(spaces).where(eq(spaces.id, spaceId));
  return space;
}

export async function spaceExists(database: Database, spaceId: string): Promise<boolean> {
  const found = await database.select({ id: spaces.id }).from(spaces).where(eq(spaces.id, spaceId));
  return found.length > 0;
}

/** The spaces of a list that are neither deleted nor marked as deleted. */
export async function listKeptSpaces(database: Database, spaceIds: string[]): Promise<Set<string>> {
  const isKept = and(inArray(spaces.id, spaceIds), isNull(spaces.deleteAt));
  const rows = await database.select({ id: spaces.id }).from(spaces).where(isKept);
  return new Set(rows.map(({ id }) => id));
}

/** The oldest first. */
export async function listSpaces(database: Database): Promise<Space[]> {
  return database.select().from(spaces).orderBy(spaces.id);
}
