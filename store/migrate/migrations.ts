import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type MigrationMeta, readMigrationFiles } from 'drizzle-orm/migrator';
import postgres from 'postgres';
import type { Sql } from '../db/connect.ts';
import { migrationLockPauseMs, migrationLockTimeoutMs, migrationLockTries } from './limits.ts';
import { readNewest } from './schema-range.ts';
import { splitStatements } from './statements.ts';

const migrationsFolder = fileURLToPath(new URL('../db/migrations', import.meta.url));

export interface PendingMigration {
  /**
   * `-- online` at the start: statement by statement, each a transaction, as CREATE INDEX CONCURRENTLY needs.
   * They can be repeated: after an interruption all run again. Other migrations are one transaction.
   */
  readonly isOnline: boolean;
  readonly statements: readonly string[];
  readonly meta: MigrationMeta;
}

/** The migrations that the database does not have, oldest first. Reads only. */
export async function readPending(sql: Sql): Promise<PendingMigration[]> {
  const newest = await readNewest(sql);
  return readMigrationFiles({ migrationsFolder })
    .filter(({ folderMillis }) => folderMillis > newest)
    .map((meta) => {
      const text = meta.sql.join('');
      return { meta, isOnline: text.startsWith('-- online'), statements: splitStatements(text) };
    });
}

/**
 * A statement that waits for a lock makes all later ones wait: each gives up after `migrationLockTimeoutMs`,
 * and is tried again.
 * @param sql one connection, without a statement time-out.
 * @throws the error of the statement that failed. What was applied before stays; call again.
 */
export async function applyMigrations(sql: Sql, pending: readonly PendingMigration[]): Promise<void> {
  // The names that drizzle-orm's own migrator uses.
  await sql`CREATE SCHEMA IF NOT EXISTS drizzle`;
  await sql`CREATE TABLE IF NOT EXISTS drizzle.__drizzle_migrations (
    id serial PRIMARY KEY, hash text NOT NULL, created_at bigint)`;
  await withLockTimeout(sql, async () => {
    for (const migration of pending) await apply(sql, migration);
  });
}

/** Repeatable ones, each in a transaction, like those of a migration that is `-- online`. */
export async function applyStatements(sql: Sql, statements: readonly string[]): Promise<void> {
  await withLockTimeout(sql, async () => {
    for (const statement of statements) await retryLocked(() => sql.unsafe(statement));
  });
}

async function withLockTimeout(sql: Sql, run: () => Promise<void>): Promise<void> {
  await sql`SELECT set_config('lock_timeout', ${`${migrationLockTimeoutMs}ms`}, false)`;
  await run();
  await sql`SELECT set_config('lock_timeout', '0', false)`;
}

async function apply(sql: Sql, { meta, isOnline, statements }: PendingMigration): Promise<void> {
  const record = (on: Sql | postgres.TransactionSql) => on`
    INSERT INTO drizzle.__drizzle_migrations (hash, created_at) VALUES (${meta.hash}, ${meta.folderMillis})`;
  if (isOnline) {
    for (const statement of statements) await retryLocked(() => sql.unsafe(statement));
    await record(sql);
    return;
  }
  await retryLocked(() =>
    sql.begin(async (transaction) => {
      for (const statement of statements) await transaction.unsafe(statement);
      await record(transaction);
    }),
  );
}

/** Retries what fails with lock_not_available or deadlock_detected. */
async function retryLocked(run: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await run();
      return;
    } catch (error) {
      const isLocked = error instanceof postgres.PostgresError && ['55P03', '40P01'].includes(error.code);
      if (!isLocked || attempt === migrationLockTries) throw error;
      await sleep(migrationLockPauseMs);
    }
  }
}
