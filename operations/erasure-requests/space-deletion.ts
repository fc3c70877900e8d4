import { and, asc, desc, eq, isNull, type SQL, sql } from 'drizzle-orm';
import { type Actor, operator, runAudited } from '../../store/accounts/audit/audit.ts';
import type { Space } from '../../store/accounts/spaces.ts';
import type { Database, Transaction } from '../../store/db/database.ts';
import {
  alertRules,
  apiKeys,
  deletedSpaces,
  erasureRequests,
  erasures,
  sessions,
  spaces,
} from '../../store/db/schema.ts';
import { nameOf, namesOf } from '../../store/db/statement.ts';
import { spaceGraceMs } from './limits.ts';

/** docs/data-lifecycle.md#deletion: a request that becomes due after a day, run like an erasure. */

/**
 * Marks a space as deleted: nobody reads or writes it, and after the grace it is deleted for good. Again,
 * this can only shorten the grace.
 * @param graceMs by default a day.
 * @returns the space with the end of the grace; undefined when there is no such space.
 * @throws GrantLostError, ConfirmationNeededError
 */
export async function deleteSpace(
  database: Database,
  spaceId: string,
  { actor, graceMs = spaceGraceMs }: { actor: Actor; graceMs?: number },
): Promise<Space | undefined> {
  const dueAt = sql`now() + ${graceMs}::float8 * interval '1 millisecond'`;
  const marked = database.$with('marked').as(
    database
      .update(spaces)
      .set({ deleteAt: sql`least(${spaces.deleteAt}, ${dueAt})` })
      .where(eq(spaces.id, spaceId))
      .returning(),
  );
  const { id, subject, requestedBy, attemptAt } = erasureRequests;
  // The id of a space's deletion is that of the space, so that there is one.
  const requested = database.$with('requested', {}).as(sql`
    INSERT INTO ${erasureRequests} (${namesOf([erasureRequests.spaceId, id, subject, requestedBy, attemptAt])})
    SELECT ${marked.id}, ${marked.id}, 'space', ${actor.id}::text, ${marked.deleteAt} FROM ${marked}
    ON CONFLICT (${namesOf([erasureRequests.spaceId, id])}) DO UPDATE SET ${nameOf(attemptAt)} = excluded.${nameOf(attemptAt)}`);
  const entry = { spaceId: marked.id, actor, action: 'space.delete', details: { graceMs } };
  const [space] = await runAudited(database, marked, { ...entry, after: [requested] });
  return space;
}

/**
 * Takes a deletion back, during its grace: keys work again. Alerts go on from now.
 * @returns undefined when the space is not marked as deleted, or when its deletion has begun.
 * @throws GrantLostError, ConfirmationNeededError
 */
export async function restoreSpace(
  database: Database,
  spaceId: string,
  actor: Actor,
): Promise<Space | undefined> {
  // This or the writer that begins the deletion changes the row; the other does not match it any more.
  const cancelled = database.$with('cancelled').as(
    database
      .delete(erasureRequests)
      .where(and(isDeletionOf(spaceId), isNull(erasureRequests.startedAt)))
      .returning({ spaceId: erasureRequests.spaceId }),
  );
  const restored = database
    .$with('restored')
    .as(
      database
        .update(spaces)
        .set({ deleteAt: null })
        .where(sql`${spaces.id} IN (SELECT ${cancelled.spaceId} FROM ${cancelled})`)
        .returning(),
    );
  const { evaluatedUntil } = alertRules;
  const alerts = database.$with('alerts', {}).as(sql`
    UPDATE ${alertRules} SET ${nameOf(evaluatedUntil)} = date_trunc('minute', now())
    WHERE ${alertRules.spaceId} IN (SELECT ${restored.id} FROM ${restored})`);
  const entry = { spaceId: restored.id, actor, action: 'space.restore' };
  const [space] = await runAudited(database, restored, { ...entry, before: [cancelled], after: [alerts] });
  return space;
}

/**
 * Deletes the space, its keys and members in one transaction: nothing is stored for it any more. Repeatable.
 */
export async function beginDeletion(
  transaction: Transaction,
  spaceId: string,
  { requestedBy, createdAt }: { requestedBy: string; createdAt: Date },
): Promise<{ name: string }> {
  const isSpace = eq(spaces.id, spaceId);
  // Waits for transactions that have looked up deleted spaces: on Citus a store has several statements.
  await transaction.execute(sql`SET LOCAL lock_timeout = '5s'`);
  await transaction.execute(sql`LOCK TABLE ${deletedSpaces} IN ACCESS EXCLUSIVE MODE`);
  const [space] = await transaction.select({ name: spaces.name }).from(spaces).where(isSpace).for('update');
  if (space !== undefined) {
    const row = { spaceId, name: space.name, requestedAt: createdAt, requestedBy };
    await transaction.insert(deletedSpaces).values(row).onConflictDoNothing();
    await transaction.update(sessions).set({ spaceId: null }).where(eq(sessions.spaceId, spaceId));
    await transaction.delete(apiKeys).where(eq(apiKeys.spaceId, spaceId));
    await transaction.delete(spaces).where(isSpace);
  }
  const [begun] = await transaction.select().from(deletedSpaces).where(eq(deletedSpaces.spaceId, spaceId));
  if (begun === undefined) throw new Error('there is no such space');
  return begun;
}

/**
 * Requests the deletions again that a restored database has lost: of spaces in their grace, and of those
 * deleted since. For after the control stream was applied (ADR 32).
 */
export async function requestLostDeletions(database: Database): Promise<void> {
  const { spaceId, id, subject, requestedBy, attemptAt } = erasureRequests;
  await database.execute(sql`
    INSERT INTO ${erasureRequests} (${namesOf([spaceId, id, subject, requestedBy, attemptAt])})
    SELECT ${spaces.id}, ${spaces.id}, 'space', ${operator.id}, ${spaces.deleteAt} FROM ${spaces} WHERE ${spaces.deleteAt} IS NOT NULL
    UNION ALL
    SELECT ${deletedSpaces.spaceId}, ${deletedSpaces.spaceId}, 'space', ${deletedSpaces.requestedBy}, now() FROM ${deletedSpaces}
    ON CONFLICT DO NOTHING`);
}

/**
 * All deletions, for the operator: those in their grace first, then the others, the last begun first.
 * `requestedBy` is a user's id, or `operator`; `dueAt`, when a deletion can no longer be taken back, is null
 * when it has begun.
 */
export async function listDeletions(database: Database) {
  const { createdAt, requestedBy, progress, failure } = erasureRequests;
  const waiting = await database
    .select({
      spaceId: spaces.id,
      name: spaces.name,
      requestedAt: createdAt,
      requestedBy,
      dueAt: spaces.deleteAt,
      failure,
    })
    .from(spaces)
    .innerJoin(
      erasureRequests,
      and(eq(erasureRequests.spaceId, spaces.id), eq(erasureRequests.subject, 'space')),
    )
    .orderBy(asc(spaces.deleteAt));
  const begun = await database
    .select({
      ...{ spaceId: deletedSpaces.spaceId, name: deletedSpaces.name, requestedAt: deletedSpaces.requestedAt },
      ...{ requestedBy: deletedSpaces.requestedBy, progress, failure },
      ...{ completedAt: erasures.completedAt, receipt: erasures.receipt },
    })
    .from(deletedSpaces)
    .leftJoin(erasures, and(eq(erasures.spaceId, deletedSpaces.spaceId), eq(erasures.subject, 'space')))
    .leftJoin(erasureRequests, isDeletionOf(deletedSpaces.spaceId))
    .orderBy(desc(deletedSpaces.begunAt), asc(erasures.startedAt));
  // A space deleted again after a restore has several erasures. The last one counts.
  const last = new Map(begun.map((one) => [one.spaceId, one]));
  return [
    ...waiting.map((one) => ({ ...one, progress: null, completedAt: null, receipt: null })),
    ...last.values().map((one) => ({ ...one, dueAt: null })),
  ];
}

function isDeletionOf(spaceId: string | typeof deletedSpaces.spaceId): SQL | undefined {
  return and(eq(erasureRequests.spaceId, spaceId), eq(erasureRequests.subject, 'space'));
}
