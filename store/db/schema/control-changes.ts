import { sql } from 'drizzle-orm';
import { bigint, jsonb, pgTable, text } from 'drizzle-orm/pg-core';
import { instant } from './columns.ts';

/**
 * Changes, by triggers (store/control/triggers.ts), and erased ids, until the control stream has them (ADR
 * 32).
 */
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
