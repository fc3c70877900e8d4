import { sql } from 'drizzle-orm';
import {
  bigint,
  doublePrecision,
  index,
  integer,
  json,
  numeric,
  pgTable,
  primaryKey,
  smallint,
  text,
  uuid,
} from 'drizzle-orm/pg-core';
import type { UsageParts } from '../../../event/usage/usage-parts.ts';
import { bytea, instant } from './columns.ts';

/** Storage of events: the ledger of ids, the rows, the request bodies, and the commits. */

/**
 * The ledger: every id that a space ever stored. It alone decides which events are new, so that a deleted
 * event is not stored or billed again when it is resent. Rows are only deleted with their space (ADR 0016,
 * ADR 30).
 */
export const eventIds = pgTable(
  'event_ids',
  { spaceId: uuid('space_id').notNull(), id: uuid('id').notNull() },
  (table) => [primaryKey({ columns: [table.spaceId, table.id] })],
);

/**
 * One row per event, with the columns for lists and filters. The segment has the event as it was sent.
 *
 * Partitioned by ranges of segment_id, a UUIDv7, so by the week of receipt. The ledger makes ids unique, not
 * a constraint here. Drizzle does not support partitions: the migration creates them.
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
    /** Cached tokens, a part of the input. Null in events of 0.1.0 until `weir reproject`. */
    cacheReadTokens: doublePrecision('cache_read_tokens'),
    cacheWriteTokens: doublePrecision('cache_write_tokens'),
    reasoningTokens: doublePrecision('reasoning_tokens'),
    /** Price class and reported cost (event/usage/price-class.ts, event/usage/reported-cost.ts). */
    usageParts: json('usage_parts').$type<UsageParts>(),
    priceClass: text('price_class'),
    reportedCost: numeric('reported_cost'),
  },
  (table) => [
    index('events_by_start_time').on(table.spaceId, table.startTimeMs.desc()),
    index('events_by_segment').on(table.segmentId),
    index('events_by_id').using('hash', table.id),
  ],
);

/**
 * The request bodies as they were sent, zstd-compressed. `events.segment_index` is an event's index in its
 * segment. Partitioned by ranges of id like `events` by segment_id, so that a segment and its events are
 * dropped together.
 */
export const segments = pgTable(
  'segments',
  {
    spaceId: uuid('space_id').notNull(),
    id: uuid('id').notNull(),
    apiKeyId: uuid('api_key_id').notNull(),
    receivedAt: instant('received_at').notNull(),
    /** Rows stored with it, less the erased ones. */
    eventCount: integer('event_count').notNull(),
    rawBytes: integer('raw_bytes').notNull(),
    body: bytea('body').notNull(),
    /** The range of start_time_ms of its events. */
    minStartMs: doublePrecision('min_start_ms').notNull(),
    maxStartMs: doublePrecision('max_start_ms').notNull(),
    /** Hashes of the values that its events can be filtered by (event/terms.ts). */
    terms: bigint('terms', { mode: 'bigint' }).array().notNull(),
    /**
     * `projectionVersion` by which columns and terms were computed. `weir reproject` recomputes older ones.
     */
    projection: smallint('projection').notNull(),
    /** The stream and the sequence of its queue message. An erasure compares them with its start. */
    queueStream: text('queue_stream'),
    queueSequence: bigint('queue_sequence', { mode: 'number' }),
    /** The greatest number of the space's dimensions when it was stored: all up to it count it (ADR 45). */
    dimensions: smallint('dimensions'),
  },
  (table) => [
    primaryKey({ columns: [table.spaceId, table.id] }),
    // For every filter by equality (ADR 0018). A search scans the whole pending list, so the list is limited
    // to 256 KiB.
    index('segments_by_term').using('gin', table.terms).with({ gin_pending_list_limit: 256 }),
    index('segments_by_start_time').on(table.spaceId, table.maxStartMs),
  ],
);

/** The numbers of the last commit of each space (ADR 0020), and of the last change of stored events. */
export const commitCounters = pgTable(
  'commit_counters',
  {
    spaceId: uuid('space_id').notNull(),
    lastNumber: bigint('last_number', { mode: 'number' }).notNull(),
    lastChange: bigint('last_change', { mode: 'number' }).notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.spaceId] })],
);

/**
 * Stored events that were changed or removed by later spans of their traces (ADR 27), so that live streams
 * show them as they are now. Rows are numbered as `space_commits` are, and kept as long.
 */
export const eventChanges = pgTable(
  'event_changes',
  {
    spaceId: uuid('space_id').notNull(),
    number: bigint('number', { mode: 'number' }).notNull(),
    changedAt: instant('changed_at').notNull().default(sql`now()`),
    eventIds: uuid('event_ids').array().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.spaceId, table.number] }),
    index('event_changes_by_time').using('brin', table.changedAt),
  ],
);

/**
 * The commits of each space: the segments that one statement of the writer stored. It takes the next number
 * of the space under the counter's row lock, which it holds until COMMIT, so a query that sees a number sees
 * all smaller ones (ADR 0020). The writer deletes old rows, but never the last one of a space.
 */
export const spaceCommits = pgTable(
  'space_commits',
  {
    spaceId: uuid('space_id').notNull(),
    /** 1, 2, 3, … in each space, without gaps. Only a restore skips numbers (store/tail/skip-numbers.ts). */
    number: bigint('number', { mode: 'number' }).notNull(),
    storedAt: instant('stored_at').notNull().default(sql`now()`),
    eventCount: integer('event_count').notNull(),
    /** The segments that it stored, ordered by id. No other commit stores events of them (ADR 0024). */
    segmentIds: uuid('segment_ids').array().notNull(),
    /**
     * A sketch (event/latency.ts) of the times from the receipt of its events until this statement stored
     * them, in milliseconds. Null in commits of 0.1.0.
     */
    delays: bigint('delays', { mode: 'bigint' }).array(),
  },
  (table) => [
    primaryKey({ columns: [table.spaceId, table.number] }),
    // For the deletion of old rows. BRIN fits, since the rows of a block were stored at about the same time.
    index('space_commits_by_time').using('brin', table.storedAt),
  ],
);
