import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../wait.ts';
import type { Fault, FaultRun } from '../fault.ts';
import { freshIds } from '../load/batches.ts';
import { createTenant } from '../load/tenants.ts';

const limit = 2_000;
const atOnce = 64;
const eventsEach = 25;

/** 64 concurrent batches on two ingests, at a limit that is nearly reached. */
export const quotaEdge: Fault = {
  name: 'quota-edge',
  row: 17,
  title: 'quota edge: 64 concurrent batches, two ingests',
  system: { ingests: 2, writers: 2 },
  unavailableMsMax: 1_000,
  async inject(run) {
    const { system, load, slack, note } = run;
    const tenant = await createTenant(system, { monthlyEventLimit: limit });
    for (let sent = 0; sent < limit - eventsEach; sent += eventsEach)
      await load.send(tenant, freshIds(eventsEach));
    await untilStored(run, tenant.spaceId, limit - eventsEach);
    const statuses = await Promise.all(
      Array.from({ length: atOnce }, () => load.send(tenant, freshIds(eventsEach), [402])),
    );
    const accepted = statuses.filter((status) => status === 202).length;
    note(`${accepted} of ${atOnce} concurrent batches were accepted; one would have reached the limit`);
    if (accepted === 0) throw new Error('nothing was accepted although the limit was not reached');
    // Every ingest reads the usage within 500 ms of its storing, and then rejects everything.
    await untilStored(run, tenant.spaceId, limit);
    await sleep(1_000 * slack);
    const after = await Promise.all(
      Array.from({ length: atOnce }, () => load.send(tenant, freshIds(eventsEach), [402])),
    );
    if (after.some((status) => status !== 402)) throw new Error(`beyond the limit: ${after.join(', ')}`);
  },
};

const storedTimeoutMs = 30_000;

async function untilStored({ system }: FaultRun, spaceId: string, events: number): Promise<void> {
  const isStored = async () => {
    const [row] = await system.sql<{ events: number }[]>`
      SELECT sum(events)::float8 AS events FROM usage_months WHERE space_id = ${spaceId}`;
    return (row?.events ?? 0) >= events;
  };
  await until(isStored, storedTimeoutMs, `${events} events were not stored`);
}
