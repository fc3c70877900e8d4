import { setTimeout as sleep } from 'node:timers/promises';
import { freshIds } from '../batches.ts';
import type { Fault, FaultRun } from '../fault.ts';
import { createTenant } from '../tenants.ts';

const limit = 2_000;
const atOnce = 64;
const eventsEach = 25;

/** 64 batches at once where there is room for a part of one, to two ingests that know nothing of each other. */
export const quotaEdge: Fault = {
  name: 'quota-edge',
  row: 17,
  title: 'quota edge: 64 batches at once, two ingests',
  system: { ingests: 2, writers: 2 },
  unavailableMsMax: 1_000,
  async inject(run) {
    const { system, load, note } = run;
    const tenant = await createTenant(system, { monthlyEventLimit: limit });
    for (let sent = 0; sent < limit - eventsEach; sent += eventsEach)
      await load.send(tenant, freshIds(eventsEach));
    await untilStored(run, tenant.spaceId, limit - eventsEach);
    const statuses = await Promise.all(
      Array.from({ length: atOnce }, () => load.send(tenant, freshIds(eventsEach), [402])),
    );
    const accepted = statuses.filter((status) => status === 202).length;
    note(`${accepted} of ${atOnce} batches were accepted where there was room for one`);
    if (accepted === 0) throw new Error('nothing was accepted although there was room');
    // Usage is known to every ingest soon after it is stored, and then nothing more passes.
    await untilStored(run, tenant.spaceId, limit);
    await sleep(1_000);
    const after = await Promise.all(
      Array.from({ length: atOnce }, () => load.send(tenant, freshIds(eventsEach), [402])),
    );
    if (after.some((status) => status !== 402)) throw new Error(`beyond the limit: ${after.join(', ')}`);
  },
};

const storedTimeoutMs = 30_000;

async function untilStored({ system }: FaultRun, spaceId: string, events: number): Promise<void> {
  const deadlineMs = performance.now() + storedTimeoutMs;
  for (;;) {
    const [row] = await system.sql<{ events: number }[]>`
      SELECT sum(events)::float8 AS events FROM usage_months WHERE space_id = ${spaceId}`;
    if ((row?.events ?? 0) >= events) return;
    if (performance.now() > deadlineMs) throw new Error(`${events} events were not stored in time`);
    await sleep(20);
  }
}
