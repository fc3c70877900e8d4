import { setTimeout as sleep } from 'node:timers/promises';
import { createApiKey } from '../../../store/accounts/api-key.ts';
import { countQueued } from '../../queued.ts';
import { retry } from '../../wait.ts';
import type { Fault, FaultRun } from '../fault.ts';
import { freshIds } from '../load/batches.ts';

/** The writer must drain the backlog at this multiple of the arrival rate. */
const drainFactorMin = 5;

/** With this many messages or fewer in the queue there is no backlog. */
const queuedAtRest = 3;
const drainTimeoutMs = 300_000;

/** Postgres is down for long. Ingest continues with cached keys, and the writer catches up afterwards. */
export const postgresDown: Fault = {
  name: 'postgres-down',
  row: 12,
  title: 'Postgres down for long',
  // A lower load, because the writer's speed is measured on the same machine.
  load: { clients: 2, eventsMax: 30, pauseMsMax: 150 },
  unavailableMsMax: 3_000,
  async inject(run) {
    const { system, journal, load, random, thorough, note } = run;
    const postgres = system.process('postgres');
    const storedBefore = await countStored(run);
    postgres.hold();
    try {
      await postgres.stop();
      const startedMs = performance.now();
      const statuses = new Set<number>();
      const unknown = { spaceId: load.tenants[0].spaceId, apiKey: createApiKey() };
      const endMs = startedMs + random.between(8_000, thorough ? 120_000 : 9_000);
      while (performance.now() < endMs) {
        statuses.add(await load.send(unknown, freshIds(1)));
        await sleep(200);
      }
      if (!statuses.has(503) || statuses.size > 1) {
        journal.unexpected.push(`${[...statuses].join(', ')} for an unknown key while Postgres was down`);
      }
      postgres.release();
      await postgres.untilRunning();
      const awaySeconds = (performance.now() - startedMs) / 1_000;
      const { events, seconds } = await watchDrain(run, storedBefore);
      const [arrived, drained] = [events / (awaySeconds + seconds), events / seconds];
      note(
        `down for ${Math.round(awaySeconds)} s; ${Math.round(arrived)} events/s arrived, and ${Math.round(drained)} events/s were stored afterwards (${(drained / arrived).toFixed(1)} ×)`,
      );
      if (drained < drainFactorMin * arrived) {
        throw new Error(`the backlog drained at only ${(drained / arrived).toFixed(1)} × the arrival rate`);
      }
    } finally {
      postgres.release();
    }
  },
};

/** The events stored until the backlog was drained, and the time from the first row. */
async function watchDrain(run: FaultRun, storedBefore: number): Promise<{ events: number; seconds: number }> {
  const deadlineMs = performance.now() + drainTimeoutMs;
  while ((await countStored(run)) === storedBefore && performance.now() < deadlineMs) await sleep(20);
  const startedMs = performance.now();
  while (((await countQueued(run.system.monitorUrls)) ?? Infinity) > queuedAtRest) {
    if (performance.now() > deadlineMs) throw new Error('the backlog did not drain');
    await sleep(50);
  }
  const seconds = (performance.now() - startedMs) / 1_000;
  return { events: (await countStored(run)) - storedBefore, seconds };
}

/** Reads the usage counters, because counting rows takes longer the more there are. */
async function countStored({ system }: FaultRun): Promise<number> {
  const [row] = await retry(
    () =>
      system.sql<{ events: number }[]>`SELECT coalesce(sum(events), 0)::float8 AS events FROM usage_months`,
  );
  return row?.events ?? 0;
}
