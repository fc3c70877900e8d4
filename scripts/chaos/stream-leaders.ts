import { setTimeout as sleep } from 'node:timers/promises';
import type { System } from './system.ts';

interface StreamReport {
  account_details?: { stream_detail?: { name: string; cluster?: { leader?: string } }[] }[];
}

const askTimeoutMs = 1_000;
const pollMs = 50;
const leaderTimeoutMs = 60_000;

/**
 * The names of the nats-servers (`nats-1`) that lead the queue's streams, once the cluster is whole: every server is
 * healthy, its copies are current, and each stream is led from another one. One more fault in a cluster that still
 * mends the last one would be two at once.
 */
export async function findStreamLeaders(system: Pick<System, 'monitorUrls'>): Promise<string[]> {
  const deadlineMs = performance.now() + leaderTimeoutMs;
  for (;;) {
    const leaders = [...(await askLeaders(system)).values()];
    const isLed = leaders.length > 0 && new Set(leaders).size === leaders.length && !leaders.includes('');
    if (isLed && (await areHealthy(system))) return leaders;
    if (performance.now() > deadlineMs) {
      throw new Error(`the cluster does not become whole; its streams are led by ${leaders.join(', ')}`);
    }
    await sleep(pollMs);
  }
}

async function areHealthy({ monitorUrls }: Pick<System, 'monitorUrls'>): Promise<boolean> {
  const answers = await Promise.allSettled(
    monitorUrls.map((url) => fetch(new URL('/healthz', url), { signal: AbortSignal.timeout(askTimeoutMs) })),
  );
  return answers.every((answer) => answer.status === 'fulfilled' && answer.value.ok);
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
