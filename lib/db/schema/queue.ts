import { bigint, pgTable, text } from 'drizzle-orm/pg-core';
import { instant } from './columns.ts';

/**
 * How far each stream of the queue was stored when this row was committed. A database that is restored to an earlier time has
 * the row of that time: the replay begins there (ADR 31).
 */
export const queuePositions = pgTable('queue_positions', {
  stream: text('stream').primaryKey(),
  /** When the stream was created. A stream that replaced it has other messages under the same sequences. */
  createdAt: instant('created_at').notNull(),
  /** The database has the events of every message up to this sequence. */
  storedUpTo: bigint('stored_up_to', { mode: 'number' }).notNull(),
  /** How long the writer keeps messages after they were accepted, in milliseconds. */
  windowMs: bigint('window_ms', { mode: 'number' }).notNull(),
  /** The sequence up to which the last replay delivers messages again; 0 without one. */
  replayUpTo: bigint('replay_up_to', { mode: 'number' }).notNull().default(0),
  updatedAt: instant('updated_at').notNull(),
});
