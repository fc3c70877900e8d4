import { sql } from 'drizzle-orm';
import { index, jsonb, pgTable, primaryKey, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { users } from './accounts.ts';
import { bytea, createdAt, instant, newId } from './columns.ts';
import { spaces } from './spaces.ts';

export const memberships = pgTable(
  'memberships',
  {
    spaceId: uuid('space_id')
      .notNull()
      .references(() => spaces.id, { onDelete: 'cascade' }),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    role: text('role', { enum: ['owner', 'admin', 'member', 'viewer'] }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.spaceId, table.userId] })],
);

/** Invitations to a space, by link. An invitation is open until it is accepted, revoked, or expired. */
export const invitations = pgTable(
  'invitations',
  {
    id: newId(),
    spaceId: uuid('space_id')
      .notNull()
      .references(() => spaces.id, { onDelete: 'cascade' }),
    /** SHA-256 of the token in the link. */
    tokenHash: bytea('token_hash').notNull().unique(),
    /** The address that may accept, in lower case. */
    email: text('email').notNull(),
    role: text('role', { enum: ['owner', 'admin', 'member', 'viewer'] }).notNull(),
    /** A user's id, or `operator`, as in the audit log. */
    createdBy: text('created_by').notNull(),
    createdAt: createdAt(),
    expiresAt: instant('expires_at').notNull(),
    acceptedAt: instant('accepted_at'),
    revokedAt: instant('revoked_at'),
  },
  (table) => [
    index('invitations_by_space').on(table.spaceId, table.id),
    index('invitations_by_email').on(table.email),
    // Includes expired invitations: a new one to the same address replaces them.
    uniqueIndex('invitations_one_open')
      .on(table.spaceId, table.email)
      .where(sql`accepted_at IS NULL AND revoked_at IS NULL`),
  ],
);

/** The audit log of each space. `actor` is a user's id, or `operator` for the command line. */
export const auditLog = pgTable(
  'audit_log',
  {
    spaceId: uuid('space_id').notNull(),
    id: uuid('id').notNull().default(sql`uuidv7()`),
    actor: text('actor').notNull(),
    action: text('action').notNull(),
    details: jsonb('details').$type<Record<string, unknown>>().notNull(),
    createdAt: createdAt(),
    /** The id of the changed object; null when it is the space itself. */
    target: text('target'),
    /** The network address of the request; null for the operator. */
    address: text('address'),
  },
  (table) => [primaryKey({ columns: [table.spaceId, table.id] })],
);
