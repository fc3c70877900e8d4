import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  doublePrecision,
  index,
  pgTable,
  primaryKey,
  text,
  uuid,
} from 'drizzle-orm/pg-core';
import { bytea, instant } from './columns.ts';

/** Spans are no events: relations between events of different requests are resolved from them (ADR 27). */

/**
 * A span without its content. `agent_id`, `thread_id` and `user_id` may be inherited from the nearest span
 * above that names one. An erasure clears the texts and keeps the row, so that a span that is sent again does
 * not restore them.
 */
export const traceNodes = pgTable(
  'trace_nodes',
  {
    spaceId: uuid('space_id').notNull(),
    traceId: uuid('trace_id').notNull(),
    /** The span id of OTLP, in hexadecimal. */
    spanId: text('span_id').notNull(),
    parentSpanId: text('parent_span_id'),
    /** `link` only connects its children to its parent; `log` stands for log records of its parent. */
    kind: text('kind', {
      enum: ['llm', 'tool', 'agent', 'workflow', 'chain', 'retriever', 'embedding', 'link', 'log'],
    }).notNull(),
    name: text('name'),
    state: text('state', { enum: ['ok', 'error'] }).notNull(),
    startTimeMs: doublePrecision('start_time_ms').notNull(),
    endTimeMs: doublePrecision('end_time_ms').notNull(),
    agentId: text('agent_id'),
    threadId: text('thread_id'),
    userId: text('user_id'),
    eventId: uuid('event_id'),
    /** The event of another span of the same call, into which this one was merged. */
    mergedEventId: uuid('merged_event_id'),
    /** The event removed because other spans describe the call. An erasure needs its id. */
    removedEventId: uuid('removed_event_id'),
    /** The library that created an LLM span. */
    scope: text('scope'),
    /** Hashes of the provider's response id, or of model and usage: they join several libraries' spans. */
    responseKey: uuid('response_key'),
    usageKey: uuid('usage_key'),
    /** Hash of the usage and the model as it was requested, if that differs from the model that answered. */
    requestKey: uuid('request_key'),
    receivedAt: instant('received_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.spaceId, table.traceId, table.spanId] }),
    // For retention. BRIN fits, since the rows of a block were stored at about the same time.
    index('trace_nodes_by_time').using('brin', table.receivedAt),
    // A call's spans in different traces. By time: a look-up reads few of those with an id that never
    // changes.
    index('trace_nodes_by_response')
      .on(table.spaceId, table.responseKey, table.startTimeMs)
      .where(sql`${table.responseKey} IS NOT NULL`),
    // For an erasure of the event into which it was merged.
    index('trace_nodes_by_merged')
      .on(table.spaceId, table.mergedEventId)
      .where(sql`${table.removedEventId} IS NOT NULL`),
  ],
);

export const traces = pgTable(
  'traces',
  {
    spaceId: uuid('space_id').notNull(),
    traceId: uuid('trace_id').notNull(),
    /** Incremented by each statement that adds nodes or events, and by each that resolves the trace. */
    version: bigint('version', { mode: 'number' }).notNull(),
    /** NULL while no nodes or events wait for their relations to be resolved. */
    unresolvedSince: instant('unresolved_since'),
    spans: bigint('spans', { mode: 'number' }).notNull(),
    /** Whether the trace has a node that is no link. Traces without one are deleted after a day. */
    hasCalls: boolean('has_calls').notNull(),
    receivedAt: instant('received_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.spaceId, table.traceId] }),
    index('traces_by_time').using('brin', table.receivedAt),
    index('traces_unresolved')
      .on(table.spaceId, table.unresolvedSince)
      .where(sql`${table.unresolvedSince} IS NOT NULL`),
    // Those that are never resolved. The number is `resolvedNodesMax` of store/traces.
    index('traces_large').on(table.spaceId).where(sql`${table.spans} > 10000`),
    index('traces_without_calls').on(table.receivedAt).where(sql`NOT ${table.hasCalls}`),
  ],
);

/** Images, sounds and files that a sender uploads apart from its spans, which name them (ADR 48). */
export const media = pgTable(
  'media',
  {
    spaceId: uuid('space_id').notNull(),
    /** The name in spans: the beginning of the SHA-256 of the data, in base64url. */
    id: text('id').notNull(),
    /** The media type, as the sender names it. */
    type: text('type').notNull(),
    data: bytea('data').notNull(),
    /** When its newest use was received. It expires by this time. */
    receivedAt: instant('received_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.spaceId, table.id] })],
);

/** Spans that name media, which may be stored later. Media without any use are deleted. */
export const mediaUses = pgTable(
  'media_uses',
  {
    spaceId: uuid('space_id').notNull(),
    /** A hash of media and span, kept in the ledger of events: an erased use is not stored again. */
    id: uuid('id').notNull(),
    mediaId: text('media_id').notNull(),
    traceId: uuid('trace_id').notNull(),
    /** The event that the span becomes if it is a call; null for a use by the trace. */
    eventId: uuid('event_id'),
    receivedAt: instant('received_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.spaceId, table.id] }),
    index('media_uses_by_media').on(table.spaceId, table.mediaId),
    index('media_uses_by_trace').on(table.spaceId, table.traceId),
    index('media_uses_by_event').on(table.spaceId, table.eventId),
    index('media_uses_by_time').using('brin', table.receivedAt),
  ],
);
