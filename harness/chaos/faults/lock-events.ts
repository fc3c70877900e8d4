import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../fault.ts';

/**
 * The table is locked, as by a manual migration; in a thorough run for longer than the writer's statement
 * time-out.
 */
export const lockEvents: Fault = {
  name: 'lock-events',
  row: 11,
  title: 'LOCK TABLE events',
  unavailableMsMax: 1_000,
  async inject({ system, random, thorough }) {
    await system.sql.begin(async (sql) => {
      await sql`SET LOCAL idle_in_transaction_session_timeout = 0`;
      await sql`LOCK TABLE events IN ACCESS EXCLUSIVE MODE`;
      await sleep(random.between(1_500, thorough ? 40_000 : 3_000));
    });
  },
};
