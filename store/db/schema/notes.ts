import { sql } from 'drizzle-orm';
import { doublePrecision, index, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { instant } from './columns.ts';

/**
 * Notes and labels on events, threads and traces (ADR 46). A note may be stored before what it is on, so
 * there is no reference.
 */
export const notes = pgTable(
  'notes',
  {
    spaceId: uuid('space_id').notNull(),
    /** Chosen by the client, so that a repeated request adds nothing. */
    id: uuid('id').notNull(),
    /** What the note is on, and its id: as `events` stores the id of an event, a thread or a trace. */
    target: text('target', { enum: ['event', 'thread', 'trace'] }).notNull(),
    targetId: text('target_id').notNull(),
    label: text('label'),
    /** The label's value as text; numbers as JavaScript prints them. */
    value: text('value'),
    /** What the value was sent as; null without one. */
    valueType: text('value_type', { enum: ['text', 'number', 'boolean'] }),
    /** A number, or a boolean as 0 or 1: what is compared. */
    score: doublePrecision('score'),
    text: text('text'),
    author: text('author', { enum: ['user', 'key'] }).notNull(),
    /** The id of the user or of the API key. */
    authorId: uuid('author_id').notNull(),
    createdAt: instant('created_at').notNull(),
    changedAt: instant('changed_at'),
    /** The span that was evaluated, or whose event was noted: the note is on what it is resolved to. */
    traceId: uuid('trace_id'),
    spanId: text('span_id'),
  },
  (table) => [
    primaryKey({ columns: [table.spaceId, table.id] }),
    index('notes_by_target').on(table.spaceId, table.targetId, table.target),
    index('notes_by_label').on(table.spaceId, table.label),
    index('notes_by_trace').on(table.spaceId, table.traceId).where(sql`${table.traceId} IS NOT NULL`),
  ],
);
