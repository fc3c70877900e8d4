import { sql } from 'drizzle-orm';
import { bigint, doublePrecision, jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { createdAt, instant } from './columns.ts';

/** `space`: the deletion of the space (docs/data-lifecycle.md#deletion). */
const subject = () => text('subject', { enum: ['user', 'thread', 'before', 'space'] }).notNull();

/** Erasures, of which killed runs continue from their row. The subject is only kept as a hash. */
export const erasures = pgTable(
  'erasures',
  {
    spaceId: uuid('space_id').notNull(),
    id: uuid('id').notNull().default(sql`uuidv7()`),
    subject: subject(),
    /** The term of the user or thread (event/terms.ts), in the space. */
    term: bigint('term', { mode: 'bigint' }),
    /** Erases events that started before this time. */
    beforeMs: doublePrecision('before_ms'),
    reason: text('reason'),
    /** When the last run began. Events accepted until then are erased. */
    startedAt: instant('started_at').notNull(),
    events: bigint('events', { mode: 'number' }).notNull().default(0),
    segmentsRewritten: bigint('segments_rewritten', { mode: 'number' }).notNull().default(0),
    segmentsDeleted: bigint('segments_deleted', { mode: 'number' }).notNull().default(0),
    quarantineEvents: bigint('quarantine_events', { mode: 'number' }).notNull().default(0),
    quarantineRewritten: bigint('quarantine_rewritten', { mode: 'number' }).notNull().default(0),
    quarantineDeleted: bigint('quarantine_deleted', { mode: 'number' }).notNull().default(0),
    notes: bigint('notes', { mode: 'number' }).notNull().default(0),
    media: bigint('media', { mode: 'number' }).notNull().default(0),
    /** Tables whose pages still hold erased bytes: partitions of segments, or `quarantine`. */
    unwritten: text('unwritten').array().notNull(),
    completedAt: instant('completed_at'),
    /** The receipt with a hash as user or thread. Null before completion, and for erasures of 0.1.0. */
    receipt: jsonb('receipt').$type<Record<string, unknown>>(),
    /** A user in the dashboard; null for `weir erase`. */
    requestedBy: text('requested_by'),
  },
  (table) => [primaryKey({ columns: [table.spaceId, table.id] })],
);

/** Requested erasures and deletions of spaces. A row names the subject, so completion rewrites the table. */
export const erasureRequests = pgTable(
  'erasure_requests',
  {
    spaceId: uuid('space_id').notNull(),
    id: uuid('id').notNull().default(sql`uuidv7()`),
    subject: subject(),
    /** The user or thread. The planner keeps no samples of it (SET STATISTICS 0 in the migration). */
    value: text('value'),
    /** The value's term, and all that the control stream has: a restore finds the value by it. */
    term: bigint('term', { mode: 'bigint' }),
    beforeMs: doublePrecision('before_ms'),
    reason: text('reason'),
    /** A user's id, or `operator`, as in the audit log. */
    requestedBy: text('requested_by').notNull(),
    createdAt: createdAt(),
    /** When a writer began it; null while it waits for one. */
    startedAt: instant('started_at'),
    /** Events that the writer counted before it began. */
    expectedEvents: bigint('expected_events', { mode: 'number' }),
    progress: text('progress'),
    /** Why the last attempt failed. */
    failure: text('failure'),
    /** When the next attempt begins; of the deletion of a space at first: the end of its grace. */
    attemptAt: instant('attempt_at').notNull().default(sql`now()`),
  },
  (table) => [primaryKey({ columns: [table.spaceId, table.id] })],
);

/**
 * Spaces whose deletion has begun: rows in `spaces` are deleted, and nothing more is stored, such as queued
 * events (store/db/deleted-spaces.ts). Rows are never deleted (ADR 30).
 */
export const deletedSpaces = pgTable('deleted_spaces', {
  spaceId: uuid('space_id').primaryKey(),
  name: text('name').notNull(),
  /** When it was requested, and by whom: a user's id, or `operator`. */
  requestedAt: instant('requested_at').notNull(),
  requestedBy: text('requested_by').notNull(),
  begunAt: instant('begun_at').notNull().default(sql`now()`),
});
