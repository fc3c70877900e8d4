import { sql } from 'drizzle-orm';
import { index, pgTable, primaryKey, text, unique, uuid } from 'drizzle-orm/pg-core';
import { bytea, createdAt, instant, newId } from './columns.ts';

/** People, and how they sign in. */

export const users = pgTable('users', {
  id: newId(),
  /** In lower case. */
  email: text('email').notNull().unique(),
  /** Null for a user who signs in with single sign-on only. */
  passwordHash: text('password_hash'),
  createdAt: createdAt(),
  /** When the operator or an OpenID provider vouched for the address; null for one that only accepted an invitation. */
  emailVerifiedAt: instant('email_verified_at'),
  /** Since when the user cannot sign in (`weir user disable`); null for one who can. */
  disabledAt: instant('disabled_at'),
});

/** Whom an OpenID provider calls by which name: its issuer and its subject never change, e-mail addresses do. */
export const identities = pgTable(
  'identities',
  {
    issuer: text('issuer').notNull(),
    subject: text('subject').notNull(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    createdAt: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.issuer, table.subject] }),
    // An address that the provider gives to another person later is not linked to the same user.
    unique('identities_once_by_issuer').on(table.userId, table.issuer),
  ],
);

export const sessions = pgTable(
  'sessions',
  {
    /** SHA-256 of the token in the cookie. */
    tokenHash: bytea('token_hash').primaryKey(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    createdAt: createdAt(),
    expiresAt: instant('expires_at').notNull(),
    /** Names the session to its user: the hash is not shown. */
    id: uuid('id').notNull().unique().default(sql`uuidv7()`),
    /** At most a minute old while it is used. */
    lastUsedAt: instant('last_used_at').notNull().default(sql`now()`),
    /** The User-Agent header and the network address that it was opened with. */
    userAgent: text('user_agent'),
    address: text('address'),
    /** The space that the user switched to. */
    spaceId: uuid('space_id'),
  },
  (table) => [index('sessions_by_user').on(table.userId)],
);

/** Links that sign a user in, once and soon. */
export const signInLinks = pgTable('sign_in_links', {
  /** SHA-256 of the token in the link. */
  tokenHash: bytea('token_hash').primaryKey(),
  userId: uuid('user_id')
    .notNull()
    .references(() => users.id, { onDelete: 'cascade' }),
  createdAt: createdAt(),
  expiresAt: instant('expires_at').notNull(),
});
