import { setTimeout as sleep } from 'node:timers/promises';
import type { System } from './system.ts';

interface StreamReport {
  account_details?: { stream_detail?: { name: string; cluster?: { leader?: string } }[] }[];
}

const askTimeoutMs = 1_000;
const pollMs = 50;
const leaderTimeoutMs = 30_000;

/**
 * The name of the nats-server (`nats-1`) that leads each of the queue's streams, once every stream has a leader that it
 * is sure of itself.
 */
export async function findStreamLeaders(system: Pick<System, 'monitorUrls'>): Promise<Map<string, string>> {
  const deadlineMs = performance.now() + leaderTimeoutMs;
  for (;;) {
    const leaders = await askLeaders(system);
    if (leaders.size > 0 && ![...leaders.values()].includes('')) return leaders;
    if (performance.now() > deadlineMs) throw new Error('the streams have no leader');
    await sleep(pollMs);
  }
}

/** What the servers say of themselves; empty for a stream that nobody says to lead. */
async function askLeaders({ monitorUrls }: Pick<System, 'monitorUrls'>): Promise<Map<string, string>> {
  const leaders = new Map<string, string>();
  const reports = await Promise.allSettled(
    monitorUrls.map(async (url) => {
      const signal = AbortSignal.timeout(askTimeoutMs);
      return (await (await fetch(new URL('/jsz?streams=1', url), { signal })).json()) as StreamReport;
    }),
  );
  for (const [i, report] of reports.entries()) {
    if (report.status === 'rejected') continue;
    const own = `nats-${i + 1}`;
    for (const { name, cluster } of report.value.account_details?.[0]?.stream_detail ?? []) {
      if (cluster?.leader === own) leaders.set(name, own);
      else if (!leaders.has(name)) leaders.set(name, '');
    }
  }
  return leaders;
}
