import { sql } from 'drizzle-orm';
import { bigint, jsonb, pgTable, text } from 'drizzle-orm/pg-core';
import { instant } from './columns.ts';

/**
 * Changes of administrative tables, and the ids of erased events, until they are in the control stream (ADR
 * 32). Triggers write the rows (store/control/triggers.ts), an erasure writes its own. A row is deleted once
 * the stream has it.
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
