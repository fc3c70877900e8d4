import { sql } from 'drizzle-orm';
import {
  bigint,
  check,
  date,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  smallint,
  text,
  unique,
  uuid,
} from 'drizzle-orm/pg-core';
import { retentionDaysMax } from '../../../platform/limits.ts';
import { bytea, createdAt, instant, newId, price } from './columns.ts';

/** Spaces, their API keys, usage and prices, and the clock of retention. */

export const spaces = pgTable(
  'spaces',
  {
    id: newId(),
    name: text('name').notNull(),
    /** A month; null is unlimited. */
    monthlyEventLimit: bigint('monthly_event_limit', { mode: 'number' }),
    billingState: text('billing_state', { enum: ['active', 'inactive'] })
      .notNull()
      .default('active'),
    createdAt: createdAt(),
    /** Retention in days after receipt; null is unlimited, or RETENTION_DAYS_MAX. */
    retentionDays: integer('retention_days'),
    /** The name of its plan, for display; null without one. The limits are in this row, not in the plan. */
    plan: text('plan'),
    /** The end of a deletion's grace, in which nobody reads or writes the space. Null: not deleted. */
    deleteAt: instant('delete_at'),
    /** What statistics are kept by besides type, name and source: `user`, `agent`, `attr.KEY` (ADR 45). */
    dimensions: text('dimensions').array().notNull().default([]),
  },
  (table) => [
    check('spaces_monthly_event_limit', sql`${table.monthlyEventLimit} >= 0`),
    check('spaces_billing_state', sql`${table.billingState} IN ('active', 'inactive')`),
    check(
      'spaces_retention_days',
      sql`${table.retentionDays} BETWEEN 1 AND ${sql.raw(String(retentionDaysMax))}`,
    ),
  ],
);

export const apiKeys = pgTable('api_keys', {
  id: newId(),
  spaceId: uuid('space_id')
    .notNull()
    .references(() => spaces.id),
  name: text('name').notNull(),
  /** HMAC-SHA-256 of the whole key with the pepper: the key itself is never stored. */
  hash: bytea('hash').notNull().unique(),
  lastFour: text('last_four').notNull(),
  createdAt: createdAt(),
  expiresAt: instant('expires_at'),
  revokedAt: instant('revoked_at'),
  lastUsedAt: instant('last_used_at'),
  /** A user's id, or `operator`, as in the audit log. */
  createdBy: text('created_by').notNull().default('operator'),
  /** The key that was rolled. Unique, so that concurrent requests roll a key only once. */
  replaces: uuid('replaces').unique(),
  /** Sends events, or uses the dashboard API (store/accounts/key-scope.ts). */
  scope: text('scope', { enum: ['ingest', 'annotation', 'statistics', 'events', 'administration'] })
    .notNull()
    .default('ingest'),
});

/** Stored events by UTC month of receipt: the count that quotas limit. */
export const usageMonths = pgTable(
  'usage_months',
  {
    spaceId: uuid('space_id').notNull(),
    /** `YYYY-MM`, UTC. */
    month: text('month').notNull(),
    events: bigint('events', { mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.spaceId, table.month] })],
);

/** Received events by UTC day of receipt and API key. */
export const usageDays = pgTable(
  'usage_days',
  {
    spaceId: uuid('space_id').notNull(),
    day: date('day', { mode: 'string' }).notNull(),
    apiKeyId: uuid('api_key_id').notNull(),
    events: bigint('events', { mode: 'number' }).notNull(),
    /** Events received again with a known id: retries, and redelivered messages. */
    repeats: bigint('repeats', { mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.spaceId, table.day, table.apiKeyId] })],
);

/** One row: the clock by which events expire (store/retention/retention-clock.ts). */
export const retentionClock = pgTable(
  'retention_clock',
  {
    id: integer('id').primaryKey().default(1),
    time: instant('time').notNull(),
    /** The machine's clock when the last pass began. */
    passedAt: instant('passed_at').notNull(),
  },
  (table) => [check('retention_clock_one_row', sql`${table.id} = 1`)],
);

/**
 * Prices of a model's tokens, in US dollars per million, from a day on. Operators and owners set them; a
 * model without a row has no price.
 */
export const modelPrices = pgTable(
  'model_prices',
  {
    id: newId(),
    /** Null is for all spaces; a space's own prices take precedence. */
    spaceId: uuid('space_id').references(() => spaces.id, { onDelete: 'cascade' }),
    /** The value of `events.name`. */
    model: text('model').notNull(),
    validFrom: date('valid_from', { mode: 'string' }).notNull(),
    input: price('input').notNull(),
    output: price('output').notNull(),
    /** For input tokens that were read from a cache, or written to one. Null: no price. */
    cacheRead: price('cache_read'),
    cacheWrite: price('cache_write'),
    /** Prices of other kinds of usage, tiers and sizes of the input (store/prices/rates.ts). */
    rates: jsonb('rates').$type<Record<string, string>>().notNull().default({}),
    createdAt: createdAt(),
  },
  (table) => [
    unique('model_prices_of_day').on(table.spaceId, table.model, table.validFrom).nullsNotDistinct(),
  ],
);

/**
 * The prices that providers list, from a day on: for models without a row in `model_prices`. `weir migrate`
 * and `weir price import` write them (store/prices/list-prices.ts).
 */
export const listPrices = pgTable(
  'list_prices',
  {
    /** In lower case. Events find it by their model's names (store/prices/model-names.ts). */
    model: text('model').notNull(),
    /** The first day, UTC. */
    validFrom: date('valid_from', { mode: 'string' }).notNull(),
    input: price('input').notNull(),
    output: price('output').notNull(),
    cacheRead: price('cache_read'),
    cacheWrite: price('cache_write'),
    /** Prices of other kinds of usage, tiers and sizes of the input (store/prices/rates.ts). */
    rates: jsonb('rates').$type<Record<string, string>>().notNull().default({}),
    source: text('source').notNull(),
    /** The day of the last list with this price. */
    listedOn: date('listed_on', { mode: 'string' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.model, table.validFrom] })],
);

/**
 * What statistics of a space are kept by, besides type, name and source (ADR 45). Writers keep these tables:
 * `spaces.dimensions` has what is wanted.
 */
export const dimensions = pgTable(
  'dimensions',
  {
    spaceId: uuid('space_id').notNull(),
    /** 1, 2, 3, … in each space. A number is never used again. */
    number: smallint('number').notNull(),
    /** `user`, `agent`, or `attr.` and the key of an additional property. */
    name: text('name').notNull(),
    declaredAt: instant('declared_at').notNull(),
    /**
     * The stored segments up to this id are counted. Those stored since have the number in
     * `segments.dimensions`.
     */
    cursor: uuid('cursor'),
    /** When all that was stored before was counted. */
    countedAt: instant('counted_at'),
    /** Since when the dimension is no longer wanted; its statistics are then deleted. */
    removedAt: instant('removed_at'),
  },
  (table) => [primaryKey({ columns: [table.spaceId, table.number] })],
);

/**
 * The values that have statistics of their own, in the order of their first event; a bounded number of each
 * dimension.
 */
export const dimensionValues = pgTable(
  'dimension_values',
  {
    spaceId: uuid('space_id').notNull(),
    number: smallint('number').notNull(),
    value: text('value').notNull(),
  },
  (table) => [primaryKey({ columns: [table.spaceId, table.number, table.value] })],
);
