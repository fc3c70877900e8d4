import { setTimeout as sleep } from 'node:timers/promises';
import { controlStream } from '../../../store/control/stream.ts';
import type { System } from '../../system/system.ts';

interface StreamReport {
  account_details?: { stream_detail?: { name: string; cluster?: { leader?: string } }[] }[];
}

const requestTimeoutMs = 1_000;
const pollMs = 50;
const leaderTimeoutMs = 60_000;

/**
 * Waits until the cluster has recovered: every server is healthy, its replicas are current, and each stream is led by
 * another server. Otherwise the next fault would overlap with the last one.
 *
 * @returns the names of the nats-servers (`nats-1`) that lead the queue's streams.
 */
export async function findStreamLeaders(system: Pick<System, 'monitorUrls'>): Promise<string[]> {
  const deadlineMs = performance.now() + leaderTimeoutMs;
  for (;;) {
    const leaders = [...(await readLeaders(system)).values()];
    const isLed = leaders.length > 0 && new Set(leaders).size === leaders.length && !leaders.includes('');
    if (isLed && (await areHealthy(system))) return leaders;
    if (performance.now() > deadlineMs) {
      throw new Error(`the cluster did not recover; the leaders of its streams: ${leaders.join(', ')}`);
    }
    await sleep(pollMs);
  }
}

async function areHealthy({ monitorUrls }: Pick<System, 'monitorUrls'>): Promise<boolean> {
  const responses = await Promise.allSettled(
    monitorUrls.map((url) =>
      fetch(new URL('/healthz', url), { signal: AbortSignal.timeout(requestTimeoutMs) }),
    ),
  );
  return responses.every((response) => response.status === 'fulfilled' && response.value.ok);
}

/** The server that reports itself as the leader of each stream; empty for a stream without one. */
async function readLeaders({ monitorUrls }: Pick<System, 'monitorUrls'>): Promise<Map<string, string>> {
  const leaders = new Map<string, string>();
  const reports = await Promise.allSettled(
    monitorUrls.map(async (url) => {
      const signal = AbortSignal.timeout(requestTimeoutMs);
      return (await (await fetch(new URL('/jsz?streams=1', url), { signal })).json()) as StreamReport;
    }),
  );
  for (const [i, report] of reports.entries()) {
    if (report.status === 'rejected') continue;
    const own = `nats-${i + 1}`;
    for (const { name, cluster } of report.value.account_details?.[0]?.stream_detail ?? []) {
      // Nothing keeps the leader of the control stream away from those of the queue.
      if (name === controlStream.name) continue;
      if (cluster?.leader === own) leaders.set(name, own);
      else if (!leaders.has(name)) leaders.set(name, '');
    }
  }
  return leaders;
}
