import { sql } from 'drizzle-orm';
import { bigint, doublePrecision, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { instant } from './columns.ts';

/**
 * Erasures, completed or in progress (docs/erasure.md). A killed run continues from its row. The subject is kept only as a
 * hash.
 */
export const erasures = pgTable(
  'erasures',
  {
    spaceId: uuid('space_id').notNull(),
    id: uuid('id').notNull().default(sql`uuidv7()`),
    subject: text('subject', { enum: ['user', 'thread', 'before'] }).notNull(),
    /** The term of the user or thread (lib/event/terms.ts), in the space. */
    term: bigint('term', { mode: 'bigint' }),
    /** Events that started before this time are erased. */
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
    /** Tables whose pages still hold erased bytes: partitions of segments, or `quarantine`. */
    unwritten: text('unwritten').array().notNull(),
    completedAt: instant('completed_at'),
  },
  (table) => [primaryKey({ columns: [table.spaceId, table.id] })],
);
