import { randomUUID } from 'node:crypto';
import {
  and,
  asc,
  eq,
  inArray,
  isNull,
  lt,
  lte,
  notInArray,
  or,
  type SQL,
  type SQLWrapper,
  sql,
} from 'drizzle-orm';
import { readSpace } from '../../../store/accounts/spaces.ts';
import { readServerClock } from '../../../store/db/clock.ts';
import type { Database } from '../../../store/db/database.ts';
import { alertDeliveries, alertEvents, alertRules, alertTargets, spaces } from '../../../store/db/schema.ts';
import { namesOf } from '../../../store/db/statement.ts';
import { advance, type Evaluation, evaluate } from './evaluation.ts';
import { catchUpMsMax, claimMs, evaluationDelayMs, eventTicksAtOnceMax, ticksAtOnceMax } from './limits.ts';
import type { AlertMessage } from './message.ts';
import { readSeries, readValueNow } from './read-series.ts';
import { countsEvents, isStateNow, stepMinutesOf } from './rule.ts';
import type { SlowSpaces } from './slow-spaces.ts';

export type ClaimedRule = typeof alertRules.$inferSelect & {
  /** The clock of Postgres. */
  readonly nowMs: number;
};

/**
 * Evaluates the rule that has been due longest, and stores what happened with its deliveries. Any number of
 * processes may call this: one claims the rule, and a commit requires that there was no other since the read.
 * So each transition is stored once, also when a process stops for longer than its claim.
 * @param publicUrl DASHBOARD_PUBLIC_URL.
 * @param slow spaces whose rules are left alone for now.
 * @returns false when no rule is due.
 */
export async function evaluateNext(
  database: Database,
  publicUrl: string | undefined,
  slow: SlowSpaces,
): Promise<boolean> {
  const rule = await claimRule(database, slow.list());
  if (rule === undefined) return false;
  const startedAtMs = performance.now();
  try {
    await evaluateClaimed(database, rule, publicUrl);
  } finally {
    slow.note(rule.spaceId, performance.now() - startedAtMs);
  }
  return true;
}

async function evaluateClaimed(
  database: Database,
  rule: ClaimedRule,
  publicUrl: string | undefined,
): Promise<void> {
  const plan = planEvaluation(rule);
  const evaluation =
    plan === undefined
      ? { state: { phase: rule.phase, sinceMs: rule.since.getTime() }, transitions: [], value: rule.value }
      : await evaluateRule(database, rule, plan);
  await commit(database, rule, { plan, evaluation, publicUrl });
}

/** @param excluded the ids of spaces whose rules are not claimed. */
export async function claimRule(
  database: Database,
  excluded: readonly string[] = [],
): Promise<ClaimedRule | undefined> {
  const due = database
    .select({ id: alertRules.id })
    .from(alertRules)
    .where(
      and(
        lte(alertRules.dueAt, sql`now()`),
        or(isNull(alertRules.claimedUntil), lt(alertRules.claimedUntil, sql`now()`)),
        excluded.length === 0 ? undefined : notInArray(alertRules.spaceId, [...excluded]),
        // A space that is marked as deleted receives nothing: that is no silence.
        sql`NOT EXISTS (SELECT FROM ${spaces} WHERE ${spaces.id} = ${alertRules.spaceId} AND ${spaces.deleteAt} IS NOT NULL)`,
      ),
    )
    // A rule whose evaluation failed is behind those due before its claim ended. `greatest` ignores NULL.
    .orderBy(asc(sql`greatest(${alertRules.dueAt}, ${alertRules.claimedUntil})`))
    .limit(1)
    .for('update', { skipLocked: true });
  const [rule] = await database
    .update(alertRules)
    .set({ claimedUntil: sql`now() + ${claimMs}::float8 * interval '1 millisecond'` })
    .where(inArray(alertRules.id, due))
    .returning();
  if (rule === undefined) return undefined;
  return { ...rule, nowMs: await readServerClock(database) };
}

/** The windows that end after `afterMs`, until `endMs`. */
type Plan = NonNullable<ReturnType<typeof planEvaluation>>;

/** @returns undefined when no further window has ended. */
function planEvaluation(rule: ClaimedRule) {
  const stepMs = stepMinutesOf(rule) * 60_000;
  const floor = (ms: number) => Math.floor(ms / stepMs) * stepMs;
  const lastMs = floor(rule.nowMs - evaluationDelayMs);
  const afterMs = Math.max(floor(rule.evaluatedUntil.getTime()), lastMs - catchUpMsMax);
  if (lastMs <= afterMs) return undefined;
  const ticksMax = countsEvents(rule.filter) ? eventTicksAtOnceMax : ticksAtOnceMax;
  return { stepMs, afterMs, endMs: Math.min(lastMs, afterMs + ticksMax * stepMs) };
}

async function evaluateRule(
  database: Database,
  rule: ClaimedRule,
  { stepMs, afterMs, endMs }: Plan,
): Promise<Evaluation> {
  const state = { phase: rule.phase, sinceMs: rule.since.getTime() };
  if (isStateNow(rule.kind)) {
    const value = await readValueNow(database, rule.spaceId, rule.kind);
    const next = advance(rule, state, { value, atMs: endMs });
    const { change } = next;
    return {
      state: next.state,
      transitions: change === undefined ? [] : [{ change, atMs: endMs, value }],
      value,
    };
  }
  const startMs = afterMs + stepMs - rule.windowMinutes * 60_000;
  const series = await readSeries(database, rule.spaceId, { rule, startMs, endMs, stepMs });
  return evaluate(rule, state, { series, afterMs });
}

/** Stores the new state with what happened, unless the rule was changed or evaluated since it was read. */
async function commit(
  database: Database,
  rule: ClaimedRule,
  {
    plan,
    evaluation,
    publicUrl,
  }: { plan: Plan | undefined; evaluation: Evaluation; publicUrl: string | undefined },
): Promise<void> {
  const { state, transitions, value } = evaluation;
  const stepMs = stepMinutesOf(rule) * 60_000;
  const untilMs = plan?.endMs ?? rule.evaluatedUntil.getTime();
  const nextMs = Math.floor(untilMs / stepMs) * stepMs + stepMs + evaluationDelayMs;
  const happened = await describeTransitions(database, rule, { transitions, publicUrl });
  const moved = database.$with('moved').as(
    database
      .update(alertRules)
      .set({
        phase: state.phase,
        since: new Date(state.sinceMs),
        value,
        evaluatedUntil: new Date(untilMs),
        dueAt: new Date(nextMs),
        claimedUntil: null,
      })
      .where(
        and(
          eq(alertRules.spaceId, rule.spaceId),
          eq(alertRules.id, rule.id),
          eq(alertRules.version, rule.version),
          eq(alertRules.evaluatedUntil, rule.evaluatedUntil),
        ),
      )
      .returning({ spaceId: alertRules.spaceId, ruleId: sql<string>`${alertRules.id}`.as('rule_id') }),
  );
  const { spaceId, id, ruleId, change, at, message } = alertEvents;
  const events = database.$with('happened', {}).as(sql`
    INSERT INTO ${alertEvents} (${namesOf([spaceId, id, ruleId, change, at, message])})
    SELECT ${moved.spaceId}, one.id, ${moved.ruleId}, one.change, one.at, one.message
    FROM ${moved}, jsonb_to_recordset(${JSON.stringify(happened)}::jsonb)
      AS one(id uuid, change text, at timestamptz, message jsonb)`);
  const deliveries = database.$with('sent', {}).as(insertDeliveries(rule, happened, moved));
  await database.with(moved, events, deliveries).select().from(moved);
}

/** The deliveries of what happened, to targets that the space still has. A muted rule has none. */
function insertDeliveries(
  { targetIds, mutedUntil, nowMs }: ClaimedRule,
  happened: readonly { id: string }[],
  moved: SQLWrapper & { spaceId: SQLWrapper },
): SQL {
  const isMuted = mutedUntil !== null && mutedUntil.getTime() > nowMs;
  const sent = (isMuted ? [] : happened).flatMap((event) =>
    targetIds.map((target) => ({ id: randomUUID(), event: event.id, target })),
  );
  const { spaceId, id, eventId, targetId } = alertDeliveries;
  return sql`
    INSERT INTO ${alertDeliveries} (${namesOf([spaceId, id, eventId, targetId])})
    SELECT ${moved.spaceId}, one.id, one.event, one.target
    FROM ${moved}, jsonb_to_recordset(${JSON.stringify(sent)}::jsonb) AS one(id uuid, event uuid, target uuid)
    WHERE EXISTS (SELECT FROM ${alertTargets}
      WHERE ${alertTargets.spaceId} = ${moved.spaceId} AND ${alertTargets.id} = one.target)`;
}

/** A row of the history for each transition, with its message. */
async function describeTransitions(
  database: Database,
  rule: ClaimedRule,
  { transitions, publicUrl }: Pick<Evaluation, 'transitions'> & { publicUrl: string | undefined },
) {
  const { spaceId, id } = rule;
  const space = transitions.length === 0 ? undefined : await readSpace(database, spaceId);
  const link = publicUrl === undefined ? null : `${publicUrl}/s/${spaceId}/alerts`;
  return transitions.map(({ change, atMs, value, cost }) => {
    const at = new Date(atMs).toISOString();
    const { name, kind, filter, comparison, bound, windowMinutes, holdMinutes } = rule;
    const condition = { kind, filter, comparison, bound, windowMinutes, holdMinutes };
    const message: AlertMessage = {
      change,
      space: { id: spaceId, name: space?.name ?? '' },
      rule: { id, name, ...condition },
      value,
      valueBound: cost?.bound ?? 'exact',
      at,
      link,
    };
    return { id: randomUUID(), change, at, message };
  });
}
