import { foreignKey, pgTable, primaryKey, text, unique, uuid } from 'drizzle-orm/pg-core';
import { createdAt, instant } from './columns.ts';
import { memberships } from './memberships.ts';
import { spaces } from './spaces.ts';

/** Saved addresses of lists. Few rows: on Citus they are local to the coordinator. */
export const views = pgTable(
  'views',
  {
    spaceId: uuid('space_id')
      .notNull()
      .references(() => spaces.id, { onDelete: 'cascade' }),
    id: uuid('id').notNull(),
    /** Null is the space's. A member's own view goes with the membership. */
    userId: uuid('user_id'),
    list: text('list', { enum: ['events', 'threads', 'users'] }).notNull(),
    name: text('name').notNull(),
    /** The search part of the list's address: filter, range, order, columns. */
    address: text('address').notNull(),
    createdAt: createdAt(),
    changedAt: instant('changed_at'),
  },
  (table) => [
    primaryKey({ columns: [table.spaceId, table.id] }),
    foreignKey({
      name: 'views_of_member',
      columns: [table.spaceId, table.userId],
      foreignColumns: [memberships.spaceId, memberships.userId],
    }).onDelete('cascade'),
    unique('views_by_name').on(table.spaceId, table.userId, table.list, table.name).nullsNotDistinct(),
  ],
);
