import { setTimeout as sleep } from 'node:timers/promises';
import { createApiKey } from '../../../lib/access/api-key.ts';
import { freshIds } from '../batches.ts';
import { countQueued } from '../drain.ts';
import type { Fault, FaultRun } from '../fault.ts';
import { patiently } from '../patiently.ts';

/** How much faster than it came the backlog has to go. */
const drainFactorMin = 5;

/** A backlog below this many messages is what is always on its way. */
const queuedAtRest = 3;
const drainTimeoutMs = 300_000;

/** Postgres is away for long. Ingest goes on with the keys it knows, and the writer catches up afterwards. */
export const postgresDown: Fault = {
  name: 'postgres-down',
  row: 12,
  title: 'Postgres down for long',
  // The writer's speed is measured against a load that leaves it a machine to be fast on.
  load: { clients: 2, eventsMax: 30, pauseMsMax: 150 },
  unavailableMsMax: 3_000,
  async inject(run) {
    const { system, journal, load, random, thorough, note } = run;
    const postgres = system.part('postgres');
    const storedBefore = await countStored(run);
    postgres.hold();
    try {
      await postgres.stop();
      const startedMs = performance.now();
      const statuses = new Set<number>();
      const stranger = { spaceId: load.tenants[0].spaceId, apiKey: createApiKey() };
      const endMs = startedMs + random.between(8_000, thorough ? 120_000 : 9_000);
      while (performance.now() < endMs) {
        statuses.add(await load.send(stranger, freshIds(1)));
        await sleep(200);
      }
      if (!statuses.has(503) || statuses.size > 1) {
        journal.unexpected.push(
          `${[...statuses].join(', ')} to a key that Postgres could not be asked about`,
        );
      }
      postgres.release();
      await postgres.untilRunning();
      const awaySeconds = (performance.now() - startedMs) / 1_000;
      const { events, seconds } = await watchDrain(run, storedBefore);
      const [arrived, drained] = [events / (awaySeconds + seconds), events / seconds];
      note(
        `${Math.round(awaySeconds)} s away; ${Math.round(arrived)} events/s arrived, and ${Math.round(drained)} events/s were stored afterwards (${(drained / arrived).toFixed(1)} ×)`,
      );
      if (drained < drainFactorMin * arrived) {
        throw new Error(`the backlog went only ${(drained / arrived).toFixed(1)} × as fast as it came`);
      }
    } finally {
      postgres.release();
    }
  },
};

/** What was stored until the backlog was gone, and in which time from the first row on. */
async function watchDrain(run: FaultRun, storedBefore: number): Promise<{ events: number; seconds: number }> {
  const deadlineMs = performance.now() + drainTimeoutMs;
  while ((await countStored(run)) === storedBefore && performance.now() < deadlineMs) await sleep(20);
  const startedMs = performance.now();
  while (((await countQueued(run.system)) ?? Infinity) > queuedAtRest) {
    if (performance.now() > deadlineMs) throw new Error('the backlog did not go');
    await sleep(50);
  }
  const seconds = (performance.now() - startedMs) / 1_000;
  return { events: (await countStored(run)) - storedBefore, seconds };
}

/** By the counters, since counting rows takes longer the more there are. */
async function countStored({ system }: FaultRun): Promise<number> {
  const [row] = await patiently(
    () =>
      system.sql<{ events: number }[]>`SELECT coalesce(sum(events), 0)::float8 AS events FROM usage_months`,
  );
  return row?.events ?? 0;
}
