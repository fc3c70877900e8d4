import { randomUUID } from 'node:crypto';
import { and, asc, desc, eq, inArray, type SQL, sql } from 'drizzle-orm';
import { pick } from '../../../platform/pick.ts';
import { type Actor, auditChange, runAudited } from '../../../store/accounts/audit/audit.ts';
import type { Database } from '../../../store/db/database.ts';
import { alertDeliveries, alertEvents, alertRules, alertTargets } from '../../../store/db/schema.ts';
import { insertBelow, namesOf } from '../../../store/db/statement.ts';
import { historyListed, rulesMax } from './limits.ts';
import { type AlertMessage, describeAlert } from './message.ts';
import { readValueNow } from './read-series.ts';
import { type AlertCondition, isStateNow } from './rule.ts';

const returned = { id: alertRules.id, spaceId: alertRules.spaceId };

export type ListedRule = Awaited<ReturnType<typeof listRules>>[number];

/** Without targets that were removed. */
export async function listRules(database: Database, spaceId: string) {
  const existing = sql`ARRAY(
    SELECT ${alertTargets.id} FROM ${alertTargets} WHERE ${and(
      eq(alertTargets.spaceId, spaceId),
      sql`${alertTargets.id} = ANY (${alertRules.targetIds})`,
    )} ORDER BY array_position(${alertRules.targetIds}, ${alertTargets.id}))`;
  return database
    .select({
      ...pick(alertRules, 'id', 'name', 'kind', 'filter', 'comparison', 'bound'),
      ...pick(alertRules, 'windowMinutes', 'holdMinutes'),
      targetIds: existing.mapWith(alertRules.targetIds),
      ...pick(alertRules, 'phase', 'since', 'value', 'mutedUntil', 'evaluatedUntil'),
    })
    .from(alertRules)
    .where(eq(alertRules.spaceId, spaceId))
    .orderBy(asc(alertRules.id))
    .then((rows) => rows.map((row) => ({ ...row, filter: row.filter as AlertCondition['filter'] })));
}

/**
 * Creates a rule, or replaces the one with this id, which starts again without an alert.
 * @returns its id; or why it was not saved.
 */
export async function saveRule(
  database: Database,
  spaceId: string,
  {
    id,
    rule,
    actor,
  }: { id: string | undefined; rule: AlertCondition & { name: string; targetIds: string[] }; actor: Actor },
): Promise<string | 'too_many' | 'no_rule' | 'no_target'> {
  const targetIds = [...new Set(rule.targetIds)];
  const known = await database.$count(
    alertTargets,
    and(eq(alertTargets.spaceId, spaceId), inArray(alertTargets.id, targetIds)),
  );
  if (known < targetIds.length) return 'no_target';
  const { name, kind, filter, comparison, bound, windowMinutes, holdMinutes } = rule;
  const condition = { kind, filter: { ...filter }, comparison, bound, windowMinutes, holdMinutes };
  const now = new Date(Math.floor(Date.now() / 60_000) * 60_000);
  const values = {
    ...condition,
    name,
    targetIds,
    phase: 'ok' as const,
    since: now,
    // Otherwise the alert would look quiet until its first evaluation, a minute from now.
    value: isStateNow(kind) ? await readValueNow(database, spaceId, kind) : null,
    evaluatedUntil: now,
    dueAt: now,
    claimedUntil: null,
  };
  const details = { name, ...condition };
  if (id === undefined) {
    const inserted = { ...values, spaceId, id: randomUUID() };
    const counted = sql`SELECT count(*) FROM ${alertRules} WHERE ${eq(alertRules.spaceId, spaceId)}`;
    const created = database.$with('saved', returned).as(sql`
      ${insertBelow(alertRules, inserted, { counted, max: rulesMax })}
      RETURNING ${namesOf(Object.values(returned))}`);
    const entry = { spaceId: created.spaceId, actor, action: 'alert.create', target: created.id, details };
    const [row] = await runAudited(database, created, entry);
    return row?.id ?? 'too_many';
  }
  const change = database
    .update(alertRules)
    .set({ ...values, version: sql`${alertRules.version} + 1` })
    .where(isRule(spaceId, id))
    .returning(returned);
  const [row] = await auditChange(database, change, { actor, action: 'alert.change', details });
  return row?.id ?? 'no_rule';
}

/** Keeps the history. @returns whether the space had the rule. */
export async function removeRule(
  database: Database,
  spaceId: string,
  { id, actor }: { id: string; actor: Actor },
): Promise<boolean> {
  const removal = database.delete(alertRules).where(isRule(spaceId, id)).returning(returned);
  return (await auditChange(database, removal, { actor, action: 'alert.remove' })).length > 0;
}

/** Until then nothing is sent; what happens is in the history. @param until null ends it. */
export async function muteRule(
  database: Database,
  spaceId: string,
  { id, until, actor }: { id: string; until: Date | null; actor: Actor },
): Promise<boolean> {
  const muting = database
    .update(alertRules)
    .set({ mutedUntil: until })
    .where(isRule(spaceId, id))
    .returning(returned);
  const details = { until: until?.toISOString() ?? null };
  return (await auditChange(database, muting, { actor, action: 'alert.mute', details })).length > 0;
}

export type HistoryRow = Awaited<ReturnType<typeof listHistory>>[number];

/** The last events of a space's alerts with the outcome of their deliveries, newest first. */
export async function listHistory(database: Database, spaceId: string) {
  const events = await database
    .select()
    .from(alertEvents)
    .where(eq(alertEvents.spaceId, spaceId))
    .orderBy(desc(alertEvents.createdAt), desc(alertEvents.at))
    .limit(historyListed);
  const eventIds = events.map(({ id }) => id);
  const deliveries = await database
    .select()
    .from(alertDeliveries)
    .where(and(eq(alertDeliveries.spaceId, spaceId), inArray(alertDeliveries.eventId, eventIds)));
  const byEvent = Map.groupBy(deliveries, ({ eventId }) => eventId);
  return events.map(({ id, change, at, message }) => ({
    id,
    change,
    at,
    text: describeAlert(message as unknown as AlertMessage),
    deliveries: (byEvent.get(id) ?? []).map(({ targetId, deliveredAt, failedAt, failure }) => ({
      targetId,
      state: stateOf(deliveredAt, failedAt),
      failure,
    })),
  }));
}

function isRule(spaceId: string, id: string): SQL | undefined {
  return and(eq(alertRules.spaceId, spaceId), eq(alertRules.id, id));
}

function stateOf(deliveredAt: Date | null, failedAt: Date | null): 'delivered' | 'failed' | 'waiting' {
  if (deliveredAt !== null) return 'delivered';
  return failedAt !== null ? 'failed' : 'waiting';
}
