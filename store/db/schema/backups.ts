import { bigint, pgTable, text } from 'drizzle-orm/pg-core';
import { instant } from './columns.ts';

/**
 * Backups of `weir backup`, and recorded ones of other tools (docs/backup.md), for alerts and `weir doctor`.
 */
export const backups = pgTable('backups', {
  label: text('label').primaryKey(),
  /** The directory, or the name of the tool. */
  location: text('location').notNull(),
  /** The earliest time to which the backup can be restored. */
  stoppedAt: instant('stopped_at').notNull(),
  /** When it was proved that it can be restored; null when it was only copied. */
  verifiedAt: instant('verified_at'),
  bytes: bigint('bytes', { mode: 'number' }),
});
