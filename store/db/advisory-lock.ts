import { type SQL, sql } from 'drizzle-orm';
import type { Database } from './database.ts';

/**
 * Takes an advisory lock of the session, until it is disposed of.
 * @param database of one connection, whose session has the lock.
 * @param key one or two integers. @returns undefined when another session has the lock.
 */
export async function tryAdvisoryLock(database: Database, key: SQL): Promise<AsyncDisposable | undefined> {
  const [row] = await database.execute<{ isOurs: boolean }>(
    sql`SELECT pg_try_advisory_lock(${key}) AS "isOurs"`,
  );
  if (row?.isOurs !== true) return undefined;
  return {
    async [Symbol.asyncDispose]() {
      // A session that has ended has no lock. The error of what ran under the lock says why it ended.
      await database.execute(sql`SELECT pg_advisory_unlock(${key})`).catch(() => {});
    },
  };
}
