import { bigint, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { instant } from './columns.ts';

const count = (name: string) => bigint(name, { mode: 'number' }).notNull();

/** Who sent spans, and what became of them, by service and library (ADR 28). */
export const senders = pgTable(
  'senders',
  {
    spaceId: uuid('space_id').notNull(),
    /** The `service.name` of the resource; empty when it has none. */
    service: text('service').notNull(),
    /** The library that made the spans. */
    scope: text('scope').notNull(),
    version: text('version').notNull(),
    /** The SDK of the last request: its language, name and version. */
    sdk: text('sdk').notNull(),
    stored: count('stored'),
    /** Merged into the event of another span of the same call. */
    merged: count('merged'),
    /** Neither a model call nor a tool call. */
    leftOut: count('left_out'),
    refused: count('refused'),
    /** Why the last refused span was refused: a text of Weir, without content. */
    refusal: text('refusal'),
    lastSeenAt: instant('last_seen_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.spaceId, table.service, table.scope, table.version] })],
);
