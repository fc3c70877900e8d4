import { setTimeout as sleep } from 'node:timers/promises';
import { openPostgres } from '../../../store/db/connect.ts';
import { retry } from '../../wait.ts';
import type { Fault, FaultRun } from '../fault.ts';

/** A graceful restart, as for a changed setting: every connection is closed. */
export const restartPostgres: Fault = {
  name: 'restart-postgres',
  row: 10,
  title: 'restart of Postgres',
  unavailableMsMax: 3_000,
  async inject({ system }) {
    await system.process('postgres').stop();
  },
};

/** One backend is killed; Postgres then restarts all backends, because the shared memory may be corrupt. */
export const killBackend: Fault = {
  name: 'kill-backend',
  row: 10,
  title: 'kill -9 of one of the writer’s backends',
  unavailableMsMax: 3_000,
  async inject({ system }) {
    const [backend] = await system.sql<{ pid: number }[]>`
      SELECT pid FROM pg_stat_activity WHERE application_name = 'weir-writer' ORDER BY state = 'active' DESC LIMIT 1`;
    if (backend === undefined) throw new Error('the writer has no backend');
    process.kill(backend.pid, 'SIGKILL');
  },
};

/** Terminates connections many times, to hit them in as many states as possible. */
export const terminateBackends: Fault = {
  name: 'terminate-backends',
  row: 10,
  title: 'pg_terminate_backend of every connection, again and again',
  unavailableMsMax: 3_000,
  async inject({ system, random, thorough }) {
    for (let times = thorough ? 60 : 15; times > 0; times--) {
      await terminateAll(system);
      await sleep(random.between(10, 250));
    }
  },
};

/** Another client takes every connection that Postgres allows. */
export const hoardConnections: Fault = {
  name: 'hoard-connections',
  row: 11,
  title: 'no connection left in Postgres',
  unavailableMsMax: 3_000,
  async inject({ system, random, thorough }) {
    // Our own connection must be open before, because it terminates the others.
    await system.sql`SELECT 1`;
    const hoard = openPostgres(system.databaseUrl, {
      applicationName: 'hoard',
      connectionsMax: 200,
      statementTimeoutMs: 0,
    });
    // Each query occupies one connection; those beyond the limit are rejected.
    const hoarding = Array.from({ length: 200 }, () => hoard`SELECT pg_sleep(3600)`.catch(() => {}));
    try {
      const heldMs = random.between(2_000, thorough ? 20_000 : 4_000);
      for (const endMs = performance.now() + heldMs; performance.now() < endMs; ) {
        await terminateAll(system);
        await sleep(200);
      }
    } finally {
      await hoard.end({ timeout: 0 });
      await Promise.all(hoarding);
      // A backend in pg_sleep does not notice that its client has disconnected.
      while (await terminateHoard(system)) await sleep(50);
    }
  },
};

/** @returns whether a connection was left to terminate. */
async function terminateHoard({ sql }: FaultRun['system']): Promise<boolean> {
  const rows = await retry(
    () => sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'hoard'`,
  );
  return rows.length > 0;
}

async function terminateAll({ sql }: FaultRun['system']): Promise<void> {
  await retry(
    () => sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'weir-%'`,
  );
}

/**
 * As a provider does when the disk is nearly full. A session keeps the default that was set when it started.
 */
export const readOnlyPostgres: Fault = {
  name: 'read-only-postgres',
  row: 11,
  title: 'Postgres read-only',
  unavailableMsMax: 3_000,
  async inject({ system, random, thorough }) {
    const alter = (change: string) =>
      retry(() => system.sql.begin('READ WRITE', (sql) => sql.unsafe(`ALTER DATABASE weir ${change}`)));
    await alter('SET default_transaction_read_only = on');
    try {
      await terminateAll(system);
      await sleep(random.between(1_500, thorough ? 20_000 : 3_000));
    } finally {
      await alter('RESET default_transaction_read_only');
    }
  },
};
