import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import postgres from 'postgres';
import type { Database, Transaction } from './database.ts';
import { lockPauseMs, lockTimeoutMs, lockTries } from './limits.ts';
import { events } from './schema.ts';

/** lock_not_available, deadlock_detected, and a table that was dropped or replaced meanwhile. */
const retriedStates = new Set(['55P03', '40P01', '40001', '42P01']);

/** Retries for lock time-outs. Locks `events` first, as retention does, which drops partitions. */
export async function inBoundedTransaction<T>(
  database: Database,
  run: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await database.transaction(async (transaction) => {
        // Citus propagates SET LOCAL to the workers, but not set_config().
        await transaction.execute(sql`SET LOCAL citus.propagate_set_commands = 'local'`);
        await transaction.execute(sql`SET LOCAL lock_timeout = '${sql.raw(String(lockTimeoutMs))}ms'`);
        await transaction.execute(sql`LOCK TABLE ONLY ${events} IN ROW EXCLUSIVE MODE`);
        return await run(transaction);
      });
    } catch (error) {
      const isRetried = error instanceof postgres.PostgresError && retriedStates.has(error.code);
      if (!isRetried || attempt === lockTries) throw error;
      await sleep(lockPauseMs);
    }
  }
}
