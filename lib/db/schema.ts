import { sql } from 'drizzle-orm';
import {
  bigint,
  customType,
  doublePrecision,
  index,
  integer,
  json,
  jsonb,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uuid,
} from 'drizzle-orm/pg-core';

/**
 * The tables. Every table that grows leads its primary key with space_id, so that the data can be distributed by
 * space on an engine such as Citus without a change (design §2).
 */

const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' });
const instant = (name: string) => timestamp(name, { withTimezone: true });
const createdAt = () => instant('created_at').notNull().default(sql`now()`);
const newId = () => uuid('id').primaryKey().default(sql`uuidv7()`);

export const spaces = pgTable('spaces', {
  id: newId(),
  name: text('name').notNull(),
  /** Events a month; null is unlimited. */
  monthlyEventLimit: bigint('monthly_event_limit', { mode: 'number' }),
  billingState: text('billing_state', { enum: ['active', 'inactive'] })
    .notNull()
    .default('active'),
  createdAt: createdAt(),
});

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
});

/** One row an event: what lists, filters and charts read. The event as it was sent is in its segment. */
export const events = pgTable(
  'events',
  {
    spaceId: uuid('space_id').notNull(),
    id: uuid('id').notNull(),
    segmentId: uuid('segment_id').notNull(),
    traceId: uuid('trace_id'),
    receivedAt: instant('received_at').notNull(),
    startTimeMs: doublePrecision('start_time_ms').notNull(),
    endTimeMs: doublePrecision('end_time_ms').notNull(),
    durationMs: doublePrecision('duration_ms').notNull(),
    inputTokens: doublePrecision('input_tokens'),
    outputTokens: doublePrecision('output_tokens'),
    totalTokens: doublePrecision('total_tokens'),
    segmentIndex: integer('segment_index').notNull(),
    type: text('type', { enum: ['llm', 'tool'] }).notNull(),
    state: text('state', { enum: ['ok', 'error'] }).notNull(),
    name: text('name'),
    source: text('source').notNull(),
    threadId: text('thread_id'),
    agentId: text('agent_id'),
    agentGroupId: text('agent_group_id'),
    userId: text('user_id'),
    errorCode: text('error_code'),
    errorHttpStatus: text('error_http_status'),
    errorMessage: text('error_message'),
    inputPreview: text('input_preview'),
    outputPreview: text('output_preview'),
    attributes: json('attributes').$type<Record<string, string | number>>(),
  },
  (table) => [
    primaryKey({ columns: [table.spaceId, table.id] }),
    index('events_by_start_time').on(table.spaceId, table.startTimeMs.desc(), table.id),
    // Opening a trace in a space of a million events took 180 to 320 ms without it, and takes half of one with it,
    // for ten bytes an event. Threads and users would take as much each: they wait for their turn (ADR 0009).
    index('events_by_trace').on(table.spaceId, table.traceId).where(sql`${table.traceId} IS NOT NULL`),
  ],
);

/** The request bodies as they were sent, zstd-compressed. An event is the segment_index-th of its segment. */
export const segments = pgTable(
  'segments',
  {
    spaceId: uuid('space_id').notNull(),
    id: uuid('id').notNull(),
    apiKeyId: uuid('api_key_id').notNull(),
    receivedAt: instant('received_at').notNull(),
    eventCount: integer('event_count').notNull(),
    rawBytes: integer('raw_bytes').notNull(),
    body: bytea('body').notNull(),
  },
  (table) => [primaryKey({ columns: [table.spaceId, table.id] })],
);

/** Rows of `events` received in a UTC month: what a quota is counted against. */
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

/** What charts read: sums per minute of start time, type and model or tool, so that a chart's cost does not grow. */
export const eventStats = pgTable(
  'event_stats',
  {
    spaceId: uuid('space_id').notNull(),
    /** Minutes since the epoch. */
    minute: bigint('minute', { mode: 'number' }).notNull(),
    type: text('type').notNull(),
    name: text('name').notNull(),
    events: bigint('events', { mode: 'number' }).notNull(),
    errors: bigint('errors', { mode: 'number' }).notNull(),
    inputTokens: doublePrecision('input_tokens').notNull(),
    outputTokens: doublePrecision('output_tokens').notNull(),
    totalTokens: doublePrecision('total_tokens').notNull(),
    durationMs: doublePrecision('duration_ms').notNull(),
    /** Events by duration: bucket i holds those below latencyBucketsMs[i], the last one the rest. */
    latency: integer('latency').array().notNull(),
  },
  (table) => [primaryKey({ columns: [table.spaceId, table.minute, table.type, table.name] })],
);

/** What Postgres refused: the queue's own bytes of it, kept until an operator replays it. */
export const quarantine = pgTable(
  'quarantine',
  {
    spaceId: uuid('space_id').notNull(),
    id: uuid('id').notNull().default(sql`uuidv7()`),
    receivedAt: instant('received_at').notNull(),
    quarantinedAt: instant('quarantined_at').notNull().default(sql`now()`),
    eventCount: integer('event_count').notNull(),
    /** The SQLSTATE that Postgres refused it with, and its message. */
    sqlstate: text('sqlstate').notNull(),
    message: text('message').notNull(),
    /** A weir.queue.v1.Part, as it was queued. */
    part: bytea('part').notNull(),
  },
  (table) => [primaryKey({ columns: [table.spaceId, table.id] })],
);

export const users = pgTable('users', {
  id: newId(),
  /** In lower case. */
  email: text('email').notNull().unique(),
  passwordHash: text('password_hash').notNull(),
  createdAt: createdAt(),
});

export const sessions = pgTable('sessions', {
  /** SHA-256 of the token in the cookie. */
  tokenHash: bytea('token_hash').primaryKey(),
  userId: uuid('user_id')
    .notNull()
    .references(() => users.id, { onDelete: 'cascade' }),
  createdAt: createdAt(),
  expiresAt: instant('expires_at').notNull(),
});

export const memberships = pgTable(
  'memberships',
  {
    spaceId: uuid('space_id')
      .notNull()
      .references(() => spaces.id, { onDelete: 'cascade' }),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    role: text('role', { enum: ['owner', 'admin', 'member', 'viewer'] }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.spaceId, table.userId] })],
);

/** Who changed what in a space. `actor` is a user's id, or `operator` for the command line. */
export const auditLog = pgTable(
  'audit_log',
  {
    spaceId: uuid('space_id').notNull(),
    id: uuid('id').notNull().default(sql`uuidv7()`),
    actor: text('actor').notNull(),
    action: text('action').notNull(),
    details: jsonb('details').$type<Record<string, unknown>>().notNull(),
    createdAt: createdAt(),
  },
  (table) => [primaryKey({ columns: [table.spaceId, table.id] })],
);
