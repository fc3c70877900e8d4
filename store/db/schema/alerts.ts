import { sql } from 'drizzle-orm';
import { doublePrecision, index, integer, jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { createdAt, instant } from './columns.ts';
import { spaces } from './spaces.ts';

/** docs/alerts.md. Few rows: on Citus they are local to the coordinator. */

const ofSpace = () =>
  uuid('space_id')
    .notNull()
    .references(() => spaces.id, { onDelete: 'cascade' });
const ownId = () => uuid('id').notNull().default(sql`uuidv7()`);

/** A webhook's secret is derived from its id and API_KEY_PEPPER, and not stored. */
export const alertTargets = pgTable(
  'alert_targets',
  {
    spaceId: ofSpace(),
    id: ownId(),
    name: text('name').notNull(),
    kind: text('kind', { enum: ['webhook', 'slack', 'email'] }).notNull(),
    /** A URL, or an e-mail address. */
    address: text('address').notNull(),
    createdAt: createdAt(),
  },
  (table) => [primaryKey({ columns: [table.spaceId, table.id] })],
);

export const alertKinds = [
  'error_rate',
  'p95',
  'cost',
  'tokens',
  'events',
  'silence',
  'quota',
  'quarantine',
] as const;

export const alertRules = pgTable(
  'alert_rules',
  {
    spaceId: ofSpace(),
    id: ownId(),
    name: text('name').notNull(),
    kind: text('kind', { enum: alertKinds }).notNull(),
    filter: jsonb('filter').$type<Record<string, string | undefined>>().notNull(),
    comparison: text('comparison', { enum: ['above', 'below'] }).notNull(),
    /** In percent (error_rate, quota), milliseconds (p95), dollars (cost), or a number. */
    bound: doublePrecision('bound').notNull(),
    windowMinutes: integer('window_minutes').notNull(),
    /** The condition must hold for this time before the alert fires, and the opposite before it resolves. */
    holdMinutes: integer('hold_minutes').notNull(),
    targetIds: uuid('target_ids').array().notNull(),
    mutedUntil: instant('muted_until'),
    createdAt: createdAt(),
    phase: text('phase', { enum: ['ok', 'pending', 'firing', 'clearing'] })
      .notNull()
      .default('ok'),
    /** When the phase began. */
    since: instant('since').notNull().default(sql`now()`),
    value: doublePrecision('value'),
    /** The end of the last window, a whole minute. Of several evaluations the first to change it succeeds. */
    evaluatedUntil: instant('evaluated_until').notNull(),
    dueAt: instant('due_at').notNull(),
    /** Until then, another process is evaluating the rule. */
    claimedUntil: instant('claimed_until'),
    /** Raised by each change, so that an evaluation of the previous rule is not committed. */
    version: integer('version').notNull().default(1),
  },
  (table) => [primaryKey({ columns: [table.spaceId, table.id] })],
);

export const alertEvents = pgTable(
  'alert_events',
  {
    spaceId: ofSpace(),
    id: ownId(),
    /** Null for a test of a target. */
    ruleId: uuid('rule_id'),
    change: text('change', { enum: ['fired', 'resolved', 'test'] }).notNull(),
    /** The end of the window. */
    at: instant('at').notNull(),
    /** Names and numbers, no content of events. */
    message: jsonb('message').$type<Record<string, unknown>>().notNull(),
    createdAt: createdAt(),
  },
  (table) => [primaryKey({ columns: [table.spaceId, table.id] })],
);

/** A delivery for each event and target. Its id lets receivers ignore repeated attempts. */
export const alertDeliveries = pgTable(
  'alert_deliveries',
  {
    spaceId: ofSpace(),
    id: ownId(),
    eventId: uuid('event_id').notNull(),
    targetId: uuid('target_id').notNull(),
    attempts: integer('attempts').notNull().default(0),
    /** When the next attempt is due. */
    attemptAt: instant('attempt_at').notNull().default(sql`now()`),
    deliveredAt: instant('delivered_at'),
    /** When it failed for good: there are no more attempts. */
    failedAt: instant('failed_at'),
    failure: text('failure'),
    createdAt: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.spaceId, table.id] }),
    index('alert_deliveries_open').on(table.attemptAt).where(sql`delivered_at IS NULL AND failed_at IS NULL`),
  ],
);
