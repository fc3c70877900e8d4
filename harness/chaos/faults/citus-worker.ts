import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { and, eq } from 'drizzle-orm';
import { issueApiKey } from '../../../store/accounts/api-keys.ts';
import { readPlacements } from '../../../store/db/layout/cluster-nodes.ts';
import { events } from '../../../store/db/schema.ts';
import type { System } from '../../system/system.ts';
import { until } from '../../wait.ts';
import type { Fault, FaultRun } from '../fault.ts';
import { freshIds } from '../load/batches.ts';
import { createTenant, type Tenant } from '../load/tenants.ts';

/** More spaces than are needed to find one on another worker than the first. */
const tenantsMax = 40;

const waitMsMax = 60_000;
const requestPauseMs = 500;

/**
 * A worker of a Citus cluster is away. Only the spaces whose rows it has wait; probes, metrics and the
 * dashboard report it.
 */
export const citusWorker: Fault = {
  name: 'citus-worker',
  row: 23,
  title: 'a worker of a Citus cluster cannot be reached',
  system: { citus: true },
  load: { clients: 2, eventsMax: 30, pauseMsMax: 150 },
  unavailableMsMax: 3_000,
  discardsSystem: true,
  async checkSupport() {
    const url = process.env.WEIR_TEST_CITUS_URL;
    if (url === undefined) return 'WEIR_TEST_CITUS_URL names no Citus cluster';
    return new URL(url).hostname === '127.0.0.1' ? undefined : 'the Citus cluster is on other machines';
  },
  async inject(run) {
    const { system, load, random, thorough, slack, note } = run;
    const [lost] = load.tenants;
    const node = await nodeOf(system, lost);
    const proxy = system.workers.find(({ port }) => node.endsWith(`:${port}`));
    if (proxy === undefined) throw new Error(`no proxy is in front of ${node}`);
    const kept = await createElsewhere(system, node);
    const [lostKey, keptKey] = [await readKeyOf(system, lost), await readKeyOf(system, kept)];
    await proxy.cut();
    const startedMs = performance.now();
    try {
      await untilStored(run, kept);
      await until(
        async () => (await readProbe(system)).includes(`postgres node ${node} for spaces `),
        waitMsMax * slack,
        'the writer does not say which node is away',
      );
      const waiting = (await readProbe(system)).split(`postgres node ${node} for spaces `)[1] ?? '';
      if (!waiting.includes(lost.spaceId) || waiting.includes(kept.spaceId))
        throw new Error(`the writer says that these spaces wait: ${waiting}`);
      const statuses = [await listStatus(system, lostKey), await listStatus(system, keptKey)];
      if (statuses[0] !== 503 || statuses[1] !== 200)
        throw new Error(
          `the dashboard answered ${statuses.join(' and ')} for a space that waits and one that does not`,
        );
      const endMs = startedMs + random.between(8_000, thorough ? 60_000 : 9_000);
      while (performance.now() < endMs) {
        await untilStored(run, kept);
        await sleep(requestPauseMs);
      }
    } finally {
      await proxy.heal();
    }
    const seconds = Math.round((performance.now() - startedMs) / 1_000);
    const sinceMs = performance.now();
    await untilStored(run, lost);
    note(
      `away for ${seconds} s; an event of its spaces was stored ${((performance.now() - sinceMs) / 1_000).toFixed(1)} s after it was back`,
    );
  },
};

/** Sends an event, and waits until it is stored. */
async function untilStored({ load, system, slack }: FaultRun, tenant: Tenant): Promise<void> {
  const [id = ''] = freshIds(1);
  await until(async () => (await load.send(tenant, [id])) === 202, waitMsMax * slack);
  await until(
    async () =>
      (await system.database.$count(events, and(eq(events.spaceId, tenant.spaceId), eq(events.id, id)))) ===
      1,
    waitMsMax * slack,
    `an event of ${tenant.spaceId} is not stored`,
  );
}

async function nodeOf({ database }: System, { spaceId }: Tenant): Promise<string> {
  return (await readPlacements(database, [spaceId]))?.get(spaceId) ?? '';
}

/** Creates a space whose rows are on another node. */
async function createElsewhere(system: System, node: string): Promise<Tenant> {
  for (let i = 0; i < tenantsMax; i++) {
    const tenant = await createTenant(system);
    if ((await nodeOf(system, tenant)) !== node) return tenant;
  }
  throw new Error('all spaces are on one worker');
}

async function readKeyOf({ database, pepper }: System, { spaceId }: Tenant): Promise<string> {
  return (await issueApiKey(database, spaceId, { name: 'chaos', pepper, scope: 'events' })).apiKey;
}

/** What the writer waits for. */
async function readProbe({ probeUrls }: System): Promise<string> {
  return (await fetch(`${probeUrls[0]}/readyz`)).text();
}

/** The status with which the dashboard answers a list of a space. */
async function listStatus({ dashboardUrl }: System, readKey: string): Promise<number> {
  const input = encodeURIComponent(JSON.stringify({ limit: 1 }));
  const response = await fetch(`${dashboardUrl}/trpc/events.list?input=${input}`, {
    headers: { authorization: `Bearer ${readKey}` },
  });
  await response.text();
  return response.status;
}
