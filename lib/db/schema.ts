import { sql } from 'drizzle-orm';
import {
  bigint,
  check,
  customType,
  date,
  doublePrecision,
  index,
  integer,
  json,
  jsonb,
  numeric,
  pgTable,
  primaryKey,
  smallint,
  text,
  timestamp,
  unique,
  uuid,
} from 'drizzle-orm/pg-core';
import { projectionVersion, retentionDaysMax } from './limits.ts';

/**
 * The tables. Every table that grows leads its primary key with space_id, so that the data can be distributed by
 * space on an engine such as Citus without a change (docs/cluster.md).
 */

const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' });
const instant = (name: string) => timestamp(name, { withTimezone: true });
const createdAt = () => instant('created_at').notNull().default(sql`now()`);
/** A transaction id that never wraps around. It is compared in SQL only. */
const transactionId = customType<{ data: string }>({ dataType: () => 'xid8' });
/** An exact decimal, as text. */
const price = (name: string) => numeric(name);
const newId = () => uuid('id').primaryKey().default(sql`uuidv7()`);

export const spaces = pgTable(
  'spaces',
  {
    id: newId(),
    name: text('name').notNull(),
    /** Events a month; null is unlimited. */
    monthlyEventLimit: bigint('monthly_event_limit', { mode: 'number' }),
    billingState: text('billing_state', { enum: ['active', 'inactive'] })
      .notNull()
      .default('active'),
    createdAt: createdAt(),
    /** Days after its receipt for which an event is kept; null is for ever, or for as long as RETENTION_DAYS_MAX says. */
    retentionDays: integer('retention_days'),
    /** What people call its plan; null when the operator named none. The limits are those of this row. */
    plan: text('plan'),
  },
  (table) => [
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
  /** The key that it was rolled from. Unique: a key is rolled once, however many ask at a time. */
  replaces: uuid('replaces').unique(),
});

/**
 * The ledger: every id that a space ever stored. It alone decides what is new, so that an event that was deleted is not
 * stored or billed again when it is sent again. Rows are never deleted (ADR 0016).
 */
export const eventIds = pgTable(
  'event_ids',
  { spaceId: uuid('space_id').notNull(), id: uuid('id').notNull() },
  (table) => [primaryKey({ columns: [table.spaceId, table.id] })],
);

/** How far the ledger is filled with the ids of events that were stored before there was one (ledger-fill.ts). */
export const ledgerFills = pgTable('ledger_fills', {
  /** The table whose ids are copied. */
  tableName: text('table_name').primaryKey(),
  /** The last pair of space and id that was copied, in the order of the primary key; null before the first. */
  lastSpaceId: uuid('last_space_id'),
  lastId: uuid('last_id'),
  copied: bigint('copied', { mode: 'number' }).notNull().default(0),
  completedAt: instant('completed_at'),
});

/**
 * One row for each event, with the columns that lists and filters read. The event as it was sent is in its segment.
 *
 * Partitioned by ranges of segment_id, a UUIDv7, so by the week of receipt. No constraint makes ids unique here: the
 * ledger does. Drizzle does not know partitions: the migration makes them.
 */
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
    index('events_by_start_time').on(table.spaceId, table.startTimeMs.desc()),
    index('events_by_segment').on(table.segmentId),
    index('events_by_id').using('hash', table.id),
  ],
);

/**
 * The request bodies as they were sent, zstd-compressed. An event is the segment_index-th of its segment. Partitioned by
 * ranges of id as `events` is by segment_id, so that a segment and its events are dropped together.
 */
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
    /** The transaction that stored it. A reader that follows this order misses no late commit. */
    storedXid: transactionId('stored_xid').notNull().default(sql`pg_current_xact_id()`),
    /** The range of start_time_ms of its events; null where it was stored before there was this column. */
    minStartMs: doublePrecision('min_start_ms'),
    maxStartMs: doublePrecision('max_start_ms'),
    /** Hashes of the values that its events can be filtered by; null when they were not computed. */
    terms: bigint('terms', { mode: 'bigint' }).array(),
    /**
     * The version of the columns, terms and statistics that its events have; null where an older Weir stored it. `weir
     * reproject` computes them again where it is not this default.
     */
    projection: smallint('projection').default(projectionVersion),
  },
  (table) => [
    primaryKey({ columns: [table.spaceId, table.id] }),
    // Every filter by equality (ADR 0018). A search reads the whole list of entries that are not sorted in yet: 256 KiB.
    index('segments_by_term').using('gin', table.terms).with({ gin_pending_list_limit: 256 }),
    index('segments_by_start_time').on(table.spaceId, table.maxStartMs),
    // What was stored since a transaction: the live tail (ADR 0020).
    index('segments_by_transaction').on(table.spaceId, table.storedXid),
    // Tells whether a space has segments that the index on terms does not know.
    index('segments_without_terms').on(table.spaceId).where(sql`${table.terms} IS NULL`),
  ],
);

/**
 * Events that a live tail does not find by `segments.stored_xid`: those that joined a segment which an earlier transaction
 * stored, and those of segments that were stored long after their receipt (ADR 0020). The writer keeps a row for some days.
 */
export const segmentAdditions = pgTable(
  'segment_additions',
  {
    spaceId: uuid('space_id').notNull(),
    /** The transaction that stored these events. */
    storedXid: transactionId('stored_xid').notNull().default(sql`pg_current_xact_id()`),
    segmentId: uuid('segment_id').notNull(),
    /** Their `events.segment_index`. */
    indexes: integer('indexes').array().notNull(),
    storedAt: instant('stored_at').notNull().default(sql`now()`),
  },
  (table) => [
    primaryKey({ columns: [table.spaceId, table.storedXid, table.segmentId] }),
    index('segment_additions_by_segment').on(table.segmentId),
  ],
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

/** What a space received by UTC day of receipt and API key. */
export const usageDays = pgTable(
  'usage_days',
  {
    spaceId: uuid('space_id').notNull(),
    day: date('day', { mode: 'string' }).notNull(),
    apiKeyId: uuid('api_key_id').notNull(),
    /** Rows of `events`. */
    events: bigint('events', { mode: 'number' }).notNull(),
    /** Events that were received again, with an id that was known: retries, and messages that the queue delivered again. */
    repeats: bigint('repeats', { mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.spaceId, table.day, table.apiKeyId] })],
);

/** Sums over events. Those that are usually 0 are null then, which takes no room. */
const measures = () => ({
  events: bigint('events', { mode: 'number' }).notNull(),
  durationMs: doublePrecision('duration_ms').notNull(),
  errors: bigint('errors', { mode: 'number' }),
  inputTokens: doublePrecision('input_tokens'),
  outputTokens: doublePrecision('output_tokens'),
  totalTokens: doublePrecision('total_tokens'),
  cacheReadTokens: doublePrecision('cache_read_tokens'),
  cacheWriteTokens: doublePrecision('cache_write_tokens'),
  reasoningTokens: doublePrecision('reasoning_tokens'),
  /** A sketch of the durations: see lib/event/latency.ts. */
  latency: bigint('latency', { mode: 'bigint' }).array().notNull(),
});

/**
 * What charts read: sums per minute of start time, type, model or tool, and source. A chart's cost does not grow with the
 * number of events.
 */
export const eventStats = pgTable(
  'event_stats',
  {
    spaceId: uuid('space_id').notNull(),
    /** Minutes since the epoch. */
    minute: bigint('minute', { mode: 'number' }).notNull(),
    type: text('type', { enum: ['llm', 'tool'] }).notNull(),
    /** Empty when the event has none. */
    name: text('name').notNull(),
    /** Empty for events that were counted before there was this column. */
    source: text('source').notNull(),
    ...measures(),
  },
  (table) => [primaryKey({ columns: [table.spaceId, table.minute, table.type, table.name, table.source] })],
);

/** The same sums per minute of start time and agent, of the events that have an agent. */
export const agentStats = pgTable(
  'agent_stats',
  {
    spaceId: uuid('space_id').notNull(),
    minute: bigint('minute', { mode: 'number' }).notNull(),
    agentId: text('agent_id').notNull(),
    ...measures(),
  },
  (table) => [primaryKey({ columns: [table.spaceId, table.minute, table.agentId] })],
);

/** What a roll-up covers: so many hours from an hour that is a multiple of it. */
const rollupSpan = () => ({
  /** 1 or 6. A day of any time zone is made of few of them. */
  spanHours: integer('span_hours').notNull(),
  /** Hours since the epoch, a multiple of spanHours. */
  startHour: bigint('start_hour', { mode: 'number' }).notNull(),
});

/** The sums of event_stats over hours, added to by the same statement: a chart of a month reads few rows (ADR 0021). */
export const eventStatsRollups = pgTable(
  'event_stats_rollups',
  {
    spaceId: uuid('space_id').notNull(),
    ...rollupSpan(),
    type: text('type', { enum: ['llm', 'tool'] }).notNull(),
    name: text('name').notNull(),
    source: text('source').notNull(),
    ...measures(),
  },
  (table) => [
    primaryKey({
      name: 'event_stats_rollups_pk',
      columns: [table.spaceId, table.spanHours, table.startHour, table.type, table.name, table.source],
    }),
  ],
);

/** The sums of agent_stats over hours. */
export const agentStatsRollups = pgTable(
  'agent_stats_rollups',
  {
    spaceId: uuid('space_id').notNull(),
    ...rollupSpan(),
    agentId: text('agent_id').notNull(),
    ...measures(),
  },
  (table) => [
    primaryKey({
      name: 'agent_stats_rollups_pk',
      columns: [table.spaceId, table.spanHours, table.startHour, table.agentId],
    }),
  ],
);

/**
 * What tokens of a model cost, in US dollars per million, from a day on. Operators and owners edit it: nothing is known
 * of a model without a row.
 */
export const modelPrices = pgTable(
  'model_prices',
  {
    id: newId(),
    /** Null is for all spaces; a space's own prices take precedence. */
    spaceId: uuid('space_id').references(() => spaces.id, { onDelete: 'cascade' }),
    /** As events.name has it. */
    model: text('model').notNull(),
    /** The first day, UTC. */
    validFrom: date('valid_from', { mode: 'string' }).notNull(),
    input: price('input').notNull(),
    output: price('output').notNull(),
    /** Of input tokens that were read from a cache, or written to one. Null: they have no price. */
    cacheRead: price('cache_read'),
    cacheWrite: price('cache_write'),
    createdAt: createdAt(),
  },
  (table) => [
    unique('model_prices_of_day').on(table.spaceId, table.model, table.validFrom).nullsNotDistinct(),
  ],
);

/** Events that Postgres refused, as they were queued, kept until an operator replays them. */
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

/**
 * What was erased, or is being erased (docs/erasure.md). A run that was killed goes on from here. Whose events they were is
 * kept as a hash only.
 */
export const erasures = pgTable(
  'erasures',
  {
    spaceId: uuid('space_id').notNull(),
    id: uuid('id').notNull().default(sql`uuidv7()`),
    subject: text('subject', { enum: ['user', 'thread', 'before'] }).notNull(),
    /** The term of the user or thread (lib/event/terms.ts), in the space. */
    term: bigint('term', { mode: 'bigint' }),
    /** The end of the start times that are erased. */
    beforeMs: doublePrecision('before_ms'),
    reason: text('reason'),
    /** When the last run began. What was accepted until then is erased. */
    startedAt: instant('started_at').notNull(),
    /** The transactions that were complete then, as a pg_snapshot. */
    snapshot: text('snapshot').notNull(),
    events: bigint('events', { mode: 'number' }).notNull().default(0),
    /** Texts in segments that no event of the list had: events that were sent again. */
    copies: bigint('copies', { mode: 'number' }).notNull().default(0),
    segmentsRewritten: bigint('segments_rewritten', { mode: 'number' }).notNull().default(0),
    segmentsDeleted: bigint('segments_deleted', { mode: 'number' }).notNull().default(0),
    quarantineEvents: bigint('quarantine_events', { mode: 'number' }).notNull().default(0),
    quarantineRewritten: bigint('quarantine_rewritten', { mode: 'number' }).notNull().default(0),
    quarantineDeleted: bigint('quarantine_deleted', { mode: 'number' }).notNull().default(0),
    /** Tables whose pages still hold what was erased: partitions of segments, or `quarantine`. */
    unwritten: text('unwritten').array().notNull(),
    completedAt: instant('completed_at'),
  },
  (table) => [primaryKey({ columns: [table.spaceId, table.id] })],
);

export const users = pgTable('users', {
  id: newId(),
  /** In lower case. */
  email: text('email').notNull().unique(),
  /** Null for a user who signs in with single sign-on only. */
  passwordHash: text('password_hash'),
  createdAt: createdAt(),
});

/** Whom an OpenID provider calls by which name: its issuer and its subject never change, e-mail addresses do. */
export const identities = pgTable(
  'identities',
  {
    issuer: text('issuer').notNull(),
    subject: text('subject').notNull(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    createdAt: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.issuer, table.subject] }),
    // An address that the provider gives to another person later is not linked to the same user.
    unique('identities_once_by_issuer').on(table.userId, table.issuer),
  ],
);

export const sessions = pgTable(
  'sessions',
  {
    /** SHA-256 of the token in the cookie. */
    tokenHash: bytea('token_hash').primaryKey(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    createdAt: createdAt(),
    expiresAt: instant('expires_at').notNull(),
    /** Names the session to its user: the hash is not shown. */
    id: uuid('id').notNull().unique().default(sql`uuidv7()`),
    /** At most a minute old while it is used. */
    lastUsedAt: instant('last_used_at').notNull().default(sql`now()`),
    /** The User-Agent header and the network address that it was opened with. */
    userAgent: text('user_agent'),
    address: text('address'),
    /** The space that the user switched to. */
    spaceId: uuid('space_id'),
  },
  (table) => [index('sessions_by_user').on(table.userId)],
);

/** Links that sign a user in, once and soon. */
export const signInLinks = pgTable('sign_in_links', {
  /** SHA-256 of the token in the link. */
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

/** Invitations to a space, by link. An invitation is open until it is accepted, revoked, or expired. */
export const invitations = pgTable(
  'invitations',
  {
    id: newId(),
    spaceId: uuid('space_id')
      .notNull()
      .references(() => spaces.id, { onDelete: 'cascade' }),
    /** SHA-256 of the token in the link. */
    tokenHash: bytea('token_hash').notNull().unique(),
    /** Who may accept it. In lower case. */
    email: text('email').notNull(),
    role: text('role', { enum: ['owner', 'admin', 'member', 'viewer'] }).notNull(),
    /** A user's id, or `operator`, as in the audit log. */
    createdBy: text('created_by').notNull(),
    createdAt: createdAt(),
    expiresAt: instant('expires_at').notNull(),
    acceptedAt: instant('accepted_at'),
    revokedAt: instant('revoked_at'),
  },
  (table) => [
    index('invitations_by_space').on(table.spaceId, table.id),
    index('invitations_by_email').on(table.email),
  ],
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
    /** The id of what was changed, where it is not the space itself. */
    target: text('target'),
    /** The network address that asked for the change; null for the operator's. */
    address: text('address'),
  },
  (table) => [primaryKey({ columns: [table.spaceId, table.id] })],
);
