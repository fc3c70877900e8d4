import { index, jsonb, pgTable, primaryKey, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import type { Event } from './event.ts';

export const events = pgTable(
  'events',
  {
    spaceId: text('space_id').notNull(),
    id: uuid('id').notNull(),
    type: text('type').notNull(),
    startTime: timestamp('start_time', { withTimezone: true }).notNull(),
    event: jsonb('event').$type<Event>().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.spaceId, table.id] }),
    index('events_by_time').on(table.spaceId, table.startTime),
  ],
);

/** Creates what the table above describes. */
export const createEvents = `
  CREATE TABLE IF NOT EXISTS events (
    space_id text NOT NULL, id uuid NOT NULL, type text NOT NULL, start_time timestamptz NOT NULL, event jsonb NOT NULL,
    PRIMARY KEY (space_id, id));
  CREATE INDEX IF NOT EXISTS events_by_time ON events (space_id, start_time)`;
