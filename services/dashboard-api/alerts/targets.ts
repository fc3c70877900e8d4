import { randomUUID } from 'node:crypto';
import { and, asc, eq, gt, sql } from 'drizzle-orm';
import { type Actor, auditChange, runAudited } from '../../../store/accounts/audit/audit.ts';
import { readSpace } from '../../../store/accounts/spaces.ts';
import type { Database } from '../../../store/db/database.ts';
import { alertDeliveries, alertEvents, alertTargets } from '../../../store/db/schema.ts';
import { insertBelow, namesOf } from '../../../store/db/statement.ts';
import { webhookSecret } from './deliver.ts';
import { targetsMax, testsPerMinuteMax } from './limits.ts';
import type { AlertMessage } from './message.ts';

type NewTarget = Pick<typeof alertTargets.$inferSelect, 'name' | 'kind' | 'address'>;

export type ListedTarget = Awaited<ReturnType<typeof listTargets>>[number];

/** `shownAddress`: an e-mail address, or a URL's host, whose path may be a secret, as with Slack. */
export async function listTargets(database: Database, spaceId: string) {
  const rows = await database
    .select()
    .from(alertTargets)
    .where(eq(alertTargets.spaceId, spaceId))
    .orderBy(asc(alertTargets.id));
  return rows.map(({ id, name, kind, address }) => ({
    id,
    name,
    kind,
    shownAddress: kind === 'email' ? address : (URL.parse(address)?.host ?? ''),
  }));
}

/** @returns the id, and a webhook's secret, only here; undefined when there are too many. */
export async function createTarget(
  database: Database,
  spaceId: string,
  { target, actor, pepper }: { target: NewTarget; actor: Actor; pepper: string },
): Promise<{ id: string; secret: string | null } | undefined> {
  const id = randomUUID();
  const counted = sql`SELECT count(*) FROM ${alertTargets} WHERE ${eq(alertTargets.spaceId, spaceId)}`;
  const returned = { id: alertTargets.id, spaceId: alertTargets.spaceId };
  const created = database.$with('created', returned).as(sql`
    ${insertBelow(alertTargets, { spaceId, id, ...target }, { counted, max: targetsMax })}
    RETURNING ${namesOf(Object.values(returned))}`);
  const { name, kind } = target;
  const [row] = await runAudited(database, created, {
    spaceId: created.spaceId,
    actor,
    action: 'alert_target.create',
    target: created.id,
    details: { name, kind },
  });
  return row && { id, secret: kind === 'webhook' ? webhookSecret(pepper, id) : null };
}

/** @returns whether the space had the target. */
export async function removeTarget(
  database: Database,
  spaceId: string,
  { id, actor }: { id: string; actor: Actor },
): Promise<boolean> {
  const removal = database
    .delete(alertTargets)
    .where(and(eq(alertTargets.spaceId, spaceId), eq(alertTargets.id, id)))
    .returning({ id: alertTargets.id, spaceId: alertTargets.spaceId });
  return (await auditChange(database, removal, { actor, action: 'alert_target.remove' })).length > 0;
}

/** Sends a test message like an alert, with the outcome in the history. @returns why it was not sent. */
export async function testTarget(
  database: Database,
  spaceId: string,
  { id, actor, publicUrl }: { id: string; actor: Actor; publicUrl: string | undefined },
): Promise<'no_target' | 'too_many' | undefined> {
  const isTarget = and(eq(alertTargets.spaceId, spaceId), eq(alertTargets.id, id));
  const [found] = await database.select({ id: alertTargets.id }).from(alertTargets).where(isTarget);
  const space = await readSpace(database, spaceId);
  if (found === undefined || space === undefined) return 'no_target';
  const isRecentTest = and(
    eq(alertEvents.spaceId, spaceId),
    eq(alertEvents.change, 'test'),
    gt(alertEvents.createdAt, sql`now() - interval '1 minute'`),
  );
  const message: AlertMessage = {
    change: 'test',
    space: { id: spaceId, name: space.name },
    rule: null,
    value: null,
    at: new Date().toISOString(),
    link: publicUrl === undefined ? null : `${publicUrl}/s/${spaceId}/alerts`,
  };
  const values = { spaceId, change: 'test' as const, at: new Date(), message: { ...message } };
  const counted = sql`SELECT count(*) FROM ${alertEvents} WHERE ${isRecentTest}`;
  const returned = { id: alertEvents.id, spaceId: alertEvents.spaceId };
  const tested = database.$with('tested', returned).as(sql`
    ${insertBelow(alertEvents, values, { counted, max: testsPerMinuteMax })}
    RETURNING ${namesOf(Object.values(returned))}`);
  const columns = [alertDeliveries.spaceId, alertDeliveries.eventId, alertDeliveries.targetId];
  const sent = database.$with('sent', {}).as(sql`
    INSERT INTO ${alertDeliveries} (${namesOf(columns)})
    SELECT ${tested.spaceId}, ${tested.id}, ${id}::uuid FROM ${tested}`);
  const entry = { spaceId: tested.spaceId, actor, action: 'alert_target.test', target: id };
  const rows = await runAudited(database, tested, { ...entry, after: [sent] });
  return rows.length === 0 ? 'too_many' : undefined;
}
