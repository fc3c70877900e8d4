import { sql } from 'drizzle-orm';
import { index, pgTable, primaryKey, text, unique, uuid } from 'drizzle-orm/pg-core';
import { bytea, createdAt, instant, newId } from './columns.ts';

export const users = pgTable('users', {
  id: newId(),
  /** In lower case. */
  email: text('email').notNull().unique(),
  /** Null for a user who signs in with single sign-on only. */
  passwordHash: text('password_hash'),
  createdAt: createdAt(),
  /** When the operator or an OpenID provider verified the address; null after an invitation only. */
  emailVerifiedAt: instant('email_verified_at'),
  /** When the user was disabled (`weir user disable`); null for an enabled user. */
  disabledAt: instant('disabled_at'),
  /** Since when the user is an operator of the installation; null for others. */
  operatorSince: instant('operator_since'),
});

/** The identity of a user at an OpenID provider: issuer and subject never change, e-mail addresses do. */
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
    // If the provider reassigns the address, the other person must not be linked to the same user.
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
    /** Updated at most once a minute. */
    lastUsedAt: instant('last_used_at').notNull().default(sql`now()`),
    /** When the user last signed in, or authenticated again (`auth.confirm`, or at the OpenID provider). */
    authenticatedAt: instant('authenticated_at').notNull().default(sql`now()`),
    /** The User-Agent header and the network address that it was opened with. */
    userAgent: text('user_agent'),
    address: text('address'),
    /** The one that the user switched to. */
    spaceId: uuid('space_id'),
  },
  (table) => [index('sessions_by_user').on(table.userId)],
);

/** Short-lived, to sign a user in once. */
export const signInLinks = pgTable('sign_in_links', {
  /** SHA-256 of the token in the link. */
  tokenHash: bytea('token_hash').primaryKey(),
  userId: uuid('user_id')
    .notNull()
    .references(() => users.id, { onDelete: 'cascade' }),
  createdAt: createdAt(),
  expiresAt: instant('expires_at').notNull(),
});
