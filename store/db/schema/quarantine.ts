import { sql } from 'drizzle-orm';
import { integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { bytea, instant } from './columns.ts';

/** Events that Postgres rejected, as they were queued, kept until an operator replays them. */
export const quarantine = pgTable(
  'quarantine',
  {
    spaceId: uuid('space_id').notNull(),
    id: uuid('id').notNull().default(sql`uuidv7()`),
    receivedAt: instant('received_at').notNull(),
    quarantinedAt: instant('quarantined_at').notNull().default(sql`now()`),
    eventCount: integer('event_count').notNull(),
    /** The SQLSTATE and message of the rejection. */
    sqlstate: text('sqlstate').notNull(),
    message: text('message').notNull(),
    /** A weir.queue.v1.Part, as it was queued. */
    part: bytea('part').notNull(),
  },
  (table) => [primaryKey({ columns: [table.spaceId, table.id] })],
);
