import { bigint, pgTable, text } from 'drizzle-orm/pg-core';
import { instant } from './columns.ts';

/**
 * The backups that exist, for alerts and `weir doctor`: of `weir backup`, and those of other tools that were
 * recorded (docs/backup.md).
 */
export const backups = pgTable('backups', {
  label: text('label').primaryKey(),
  /** The directory, or the name of the tool. */
  location: text('location').notNull(),
  /** The earliest time to which it can be restored. */
  stoppedAt: instant('stopped_at').notNull(),
  /** When it was proved that it can be restored; null when it was only copied. */
  verifiedAt: instant('verified_at'),
  bytes: bigint('bytes', { mode: 'number' }),
});
