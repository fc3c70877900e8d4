import { bigint, index, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { users } from './accounts.ts';
import { bytea, createdAt, instant, newId } from './columns.ts';

/** Used in addition to the password, or (passkeys) instead of it. */

const userId = () => uuid('user_id').references(() => users.id, { onDelete: 'cascade' });

export const totpSecrets = pgTable('totp_secrets', {
  userId: userId().primaryKey(),
  /** Sealed (services/dashboard-api/seal.ts). */
  secret: bytea('secret').notNull(),
  /** The time step of the last accepted code: that code and earlier ones are refused. */
  lastStep: bigint('last_step', { mode: 'number' }).notNull(),
  createdAt: createdAt(),
});

/** WebAuthn credentials. */
export const passkeys = pgTable(
  'passkeys',
  {
    id: newId(),
    userId: userId().notNull(),
    /** The authenticator's id of the credential. */
    credentialId: bytea('credential_id').notNull().unique(),
    /** The public key in COSE format. */
    publicKey: bytea('public_key').notNull(),
    /** Number of signatures; always 0 for passkeys that are synchronised between devices. */
    counter: bigint('counter', { mode: 'number' }).notNull(),
    name: text('name').notNull(),
    createdAt: createdAt(),
    lastUsedAt: instant('last_used_at'),
  },
  (table) => [index('passkeys_by_user').on(table.userId)],
);

/** Unused ones. */
export const recoveryCodes = pgTable(
  'recovery_codes',
  {
    userId: userId().notNull(),
    /** SHA-256 of the code. */
    codeHash: bytea('code_hash').notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.codeHash] })],
);

/** Challenges that a passkey has answered. Each is accepted once. */
export const usedChallenges = pgTable('used_challenges', {
  challenge: bytea('challenge').primaryKey(),
  /** By then the challenge is refused because of its age. */
  expiresAt: instant('expires_at').notNull(),
});
