import { sql } from 'drizzle-orm';
import { bigint, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { instant } from './columns.ts';

/** How far each stream was stored at COMMIT: in a restored database the replay begins there (ADR 31). */
export const queuePositions = pgTable('queue_positions', {
  stream: text('stream').primaryKey(),
  /** A stream that replaced this one has other messages under the same sequences. */
  createdAt: instant('created_at').notNull(),
  /** The database has the events of every message up to this sequence. */
  storedUpTo: bigint('stored_up_to', { mode: 'number' }).notNull(),
  /** How long the writer keeps messages after they were accepted, in milliseconds. */
  windowMs: bigint('window_ms', { mode: 'number' }).notNull(),
  /** The sequence up to which the last replay delivers messages again; 0 without one. */
  replayUpTo: bigint('replay_up_to', { mode: 'number' }).notNull().default(0),
  updatedAt: instant('updated_at').notNull(),
});

/** Events stored from adjacent ranges of messages: a restore names the events in a gap (ADR 39). */
export const queueCounts = pgTable(
  'queue_counts',
  {
    stream: text('stream').notNull(),
    /** When the stream was created. */
    createdAt: instant('created_at').notNull(),
    /** The range: messages after this sequence, up to `storedUpTo`. All of them were stored. */
    afterSequence: bigint('after_sequence', { mode: 'number' }).notNull(),
    storedUpTo: bigint('stored_up_to', { mode: 'number' }).notNull(),
    /** The last sequence of the stream before `countedAt`: later messages were stored after it. */
    lastSequence: bigint('last_sequence', { mode: 'number' }).notNull(),
    /** Events that were new. Null when they were lost before, or too many commits had to be read. */
    events: bigint('events', { mode: 'number' }),
    countedAt: instant('counted_at').notNull().default(sql`now()`),
  },
  (table) => [primaryKey({ columns: [table.stream, table.createdAt, table.afterSequence] })],
);

/** Changes, by triggers, and erased ids, until the control stream has them (ADR 32). */
export const controlChanges = pgTable('control_changes', {
  /** Of two changes of one row, the later one has the higher number. */
  number: bigint('number', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  at: instant('at').notNull().default(sql`clock_timestamp()`),
  /** `events` for an erasure. */
  tableName: text('table_name').notNull(),
  operation: text('operation', { enum: ['upsert', 'delete', 'erase'] }).notNull(),
  /** The row, or the primary key of a deleted row, or what was erased. */
  image: jsonb('image').notNull(),
});
