import { and, asc, desc, eq, getTableName, lte, sql } from 'drizzle-orm';
import { pick } from '../../platform/pick.ts';
import { type Actor, runAudited, userIdOf } from '../../store/accounts/audit/audit.ts';
import type { Database } from '../../store/db/database.ts';
import { erasureRequests, erasures, users } from '../../store/db/schema.ts';
import { insertBelow, namesOf } from '../../store/db/statement.ts';
import { type EventsSubject, termOf } from '../erasure/subject.ts';
import { erasuresListed, openRequestsMax } from './limits.ts';

export type OpenRequest = Awaited<ReturnType<typeof listRequests>>[number];
export type CompletedErasure = Awaited<ReturnType<typeof listErasures>>[number];
export type RequestWork = Awaited<ReturnType<typeof findRequestWork>>;

/**
 * A writer begins the erasure within seconds. @returns the request's id; undefined when too many are open.
 * @throws GrantLostError, ConfirmationNeededError
 */
export async function requestErasure(
  database: Database,
  spaceId: string,
  { subject, reason, actor }: { subject: EventsSubject; reason: string | undefined; actor: Actor },
): Promise<string | undefined> {
  const values = {
    spaceId,
    subject: subject.kind,
    value: subject.kind === 'before' ? null : subject.value,
    term: termOf(spaceId, subject) ?? null,
    beforeMs: subject.kind === 'before' ? subject.timeMs : null,
    reason: reason ?? null,
    requestedBy: actor.id,
  };
  const counted = sql`SELECT count(*) FROM ${erasureRequests} WHERE ${eq(erasureRequests.spaceId, spaceId)}`;
  const returned = { id: erasureRequests.id, spaceId: erasureRequests.spaceId };
  const requested = database.$with('requested', returned).as(sql`
    ${insertBelow(erasureRequests, values, { counted, max: openRequestsMax })}
    RETURNING ${namesOf(Object.values(returned))}`);
  const [row] = await runAudited(database, requested, {
    spaceId: requested.spaceId,
    actor,
    action: 'erasure.request',
    target: requested.id,
    // Not the user or thread: the audit log is kept.
    details: { subject: subject.kind, ...(reason !== undefined && { reason }) },
  });
  return row?.id;
}

/** The erasures requested in the dashboard and not completed. They do not name the user or thread. */
export async function listRequests(database: Database, spaceId: string) {
  return database
    .select({
      ...pick(erasureRequests, 'id', 'subject', 'beforeMs', 'reason'),
      requestedBy: users.email,
      ...pick(erasureRequests, 'createdAt', 'startedAt', 'expectedEvents', 'progress', 'failure'),
    })
    .from(erasureRequests)
    .leftJoin(users, eq(users.id, userIdOf(erasureRequests.requestedBy)))
    .where(eq(erasureRequests.spaceId, spaceId))
    .orderBy(asc(erasureRequests.id));
}

/** The last erasures completed in the dashboard or with `weir erase`, newest first; receipts as JSON. */
export async function listErasures(database: Database, spaceId: string) {
  const rows = await database
    .select({
      ...pick(erasures, 'id', 'subject', 'reason'),
      requestedBy: users.email,
      completedAt: erasures.completedAt,
      events: sql<number>`(${erasures.events} + ${erasures.quarantineEvents})::float8`,
      receipt: erasures.receipt,
    })
    .from(erasures)
    .leftJoin(users, eq(users.id, userIdOf(erasures.requestedBy)))
    .where(and(eq(erasures.spaceId, spaceId), sql`${erasures.completedAt} IS NOT NULL`))
    .orderBy(desc(erasures.completedAt))
    .limit(erasuresListed);
  return rows.flatMap(({ completedAt, receipt, ...row }) =>
    completedAt === null
      ? []
      : [{ ...row, completedAt, receipt: receipt === null ? null : JSON.stringify(receipt, null, 1) }],
  );
}

/** Due requests, and completed erasures whose deleted requests are still in the file of their table. */
export async function findRequestWork(database: Database) {
  const requests = await database
    .select({ spaceId: erasureRequests.spaceId, id: erasureRequests.id })
    .from(erasureRequests)
    .where(lte(erasureRequests.attemptAt, sql`now()`))
    .orderBy(asc(erasureRequests.id));
  const unwritten = await database
    .select({ spaceId: erasures.spaceId, id: erasures.id })
    .from(erasures)
    .where(sql`${getTableName(erasureRequests)} = ANY (${erasures.unwritten})`);
  return { requests, unwritten };
}
