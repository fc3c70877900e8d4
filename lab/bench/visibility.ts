import { setTimeout as sleep } from 'node:timers/promises';
import { openIngestClient } from '../../cli/client/ingest-client.ts';
import { createLatencies } from '../../cli/client/latencies.ts';
import { type DashboardClient, openDashboardClient } from '../../harness/system/dashboard-client.ts';
import type { Connection } from '../../launcher/local-system.ts';
import type { Workload } from './workload.ts';

const samples = 40;

/** Measures the time from an event's 202 until the dashboard API returns it, by polling. */
export async function measureVisibility(connection: Connection, workload: Workload) {
  const { ingestUrl: url, apiKey, spaceId } = connection;
  await using client = openIngestClient({ url, apiKey, connections: 1, timeoutMs: 10_000 });
  const { trpc } = await openDashboardClient(connection);
  const latencies = createLatencies();
  for (let i = 0; i < samples; i++) {
    const body = workload.nextSingle();
    const id: string = JSON.parse(body.toString()).events[0].id;
    await client.post(body);
    const acceptedMs = performance.now();
    while (!(await isVisible(trpc, spaceId, id))) await sleep(2);
    latencies.record(performance.now() - acceptedMs);
  }
  return { visibleP50Ms: latencies.percentileMs(50), visibleP99Ms: latencies.percentileMs(99) };
}

async function isVisible(trpc: DashboardClient['trpc'], spaceId: string, id: string) {
  return trpc.events.get.query({ spaceId, id }).then(
    () => true,
    () => false,
  );
}
