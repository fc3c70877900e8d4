import { randomUUID } from 'node:crypto';
import { and, asc, eq, isNull, or, type SQL, sql } from 'drizzle-orm';
import { codeOf } from '../platform/thrown.ts';
import { type Actor, auditChange, runAudited, withLeastRole } from './accounts/audit/audit.ts';
import type { Role } from './accounts/role.ts';
import type { Database } from './db/database.ts';
import { views } from './db/schema.ts';
import { insertBelow, nameOf, namesOf, replaced } from './db/statement.ts';

type View = typeof views.$inferSelect;

/** Views of a space, and of one user in it: a menu shows them all. */
export const viewsOfSpaceMax = 200;
export const viewsOfUserMax = 100;

/** The least role that changes the space's views. */
export const leastOfSpaceViews: Role = 'member';

interface ViewChange {
  readonly actor: Actor;
  /** Whether the view may be the space's, which needs the role {@link leastOfSpaceViews}. */
  readonly isOfSpace: boolean;
}

const returned = { id: views.id, spaceId: views.spaceId };

/** The space's views and those of a user in it, by name. */
export async function listViews(database: Database, spaceId: string, userId: string) {
  const { id, list, name, address } = views;
  return database
    .select({ id, list, name, address, isOfSpace: sql<boolean>`${isNull(views.userId)}` })
    .from(views)
    .where(and(eq(views.spaceId, spaceId), or(isNull(views.userId), eq(views.userId, userId))))
    .orderBy(asc(sql`lower(${name})`), asc(list), asc(id));
}

/**
 * Saves a view of the space or of the actor. It replaces the owner's view of the same list and name.
 * @returns its id; undefined when the owner has the most views: then only those can be replaced. Calls at the
 * same time do not count each other's view: where the limit must be exact, they take turns.
 * @throws GrantLostError
 */
export async function saveView(
  database: Database,
  spaceId: string,
  { view, ...change }: ViewChange & { view: Pick<View, 'list' | 'name' | 'address'> },
): Promise<string | undefined> {
  const userId = change.isOfSpace ? null : change.actor.id;
  const isOwners = userId === null ? isNull(views.userId) : eq(views.userId, userId);
  const isSame = and(eq(views.list, view.list), eq(views.name, view.name));
  const others = sql`SELECT count(*) FROM ${views}
    WHERE ${and(eq(views.spaceId, spaceId), isOwners, sql`NOT (${isSame})`)}`;
  const limit = { counted: others, max: userId === null ? viewsOfSpaceMax : viewsOfUserMax };
  const saved = database.$with('saved', returned).as(sql`
    ${insertBelow(views, { ...view, spaceId, userId, id: randomUUID() }, limit)}
    ON CONFLICT (${namesOf([views.spaceId, views.userId, views.list, views.name])}) 
      DO UPDATE SET ${replaced(views.address)}, ${nameOf(views.changedAt)} = now()
    RETURNING ${namesOf(Object.values(returned))}`);
  const details = { list: view.list, name: view.name, isOfSpace: change.isOfSpace };
  const entry = { spaceId: saved.spaceId, action: 'view.save', target: saved.id, details };
  const [row] = await runAudited(database, saved, { ...entry, actor: actorOf(change) });
  return row?.id;
}

/** SQLSTATE of a violated unique constraint. */
const uniqueViolation = '23505';

/** @returns why the view was not renamed, or undefined. @throws GrantLostError */
export async function renameView(
  database: Database,
  spaceId: string,
  { id, name, ...change }: ViewChange & { id: string; name: string },
): Promise<'no_view' | 'taken' | undefined> {
  const renaming = database
    .update(views)
    .set({ name, changedAt: sql`now()` })
    .where(isView(spaceId, id, change))
    .returning(returned);
  const entry = { actor: actorOf(change), action: 'view.rename', details: { name } };
  try {
    const rows = await auditChange(database, renaming, entry);
    return rows.length > 0 ? undefined : 'no_view';
  } catch (error) {
    if (codeOf(error) === uniqueViolation) return 'taken';
    throw error;
  }
}

/** @returns whether there was such a view. @throws GrantLostError */
export async function removeView(
  database: Database,
  spaceId: string,
  { id, ...change }: ViewChange & { id: string },
): Promise<boolean> {
  const removal = database
    .delete(views)
    .where(isView(spaceId, id, change))
    .returning(returned);
  const entry = { actor: actorOf(change), action: 'view.remove' };
  return (await auditChange(database, removal, entry)).length > 0;
}

function isView(spaceId: string, id: string, { actor, isOfSpace }: ViewChange): SQL | undefined {
  const isOwn = eq(views.userId, actor.id);
  return and(
    eq(views.spaceId, spaceId),
    eq(views.id, id),
    isOfSpace ? or(isOwn, isNull(views.userId)) : isOwn,
  );
}

function actorOf({ actor, isOfSpace }: ViewChange): Actor {
  return isOfSpace ? withLeastRole(actor, leastOfSpaceViews) : actor;
}
