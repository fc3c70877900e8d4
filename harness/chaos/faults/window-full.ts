import { setTimeout as sleep } from 'node:timers/promises';
import { firstStream } from '../../../platform/queue/settings.ts';
import type { System } from '../../system/system.ts';
import { until } from '../../wait.ts';
import type { Fault } from '../fault.ts';

const fullTimeoutMs = 120_000;

/**
 * The replay window takes its half of a small stream, and the writer is killed at times at which it stores
 * and purges.
 */
export const windowFull: Fault = {
  name: 'window-full',
  row: 8,
  title: 'the replay window full, kill -9 of the writer that purges it; no 503',
  // The half that the window leaves free must hold what arrives while no writer runs: some 2.5 MB/s for one
  // to two seconds.
  system: { streamBytesMax: 24 * 1024 ** 2 },
  async inject({ system, journal, random, thorough, slack }) {
    await until(() => isPurged(system), fullTimeoutMs * slack, 'the replay window did not become full');
    const before = journal.statuses.get(503) ?? 0;
    const writer = system.process('writer-1');
    for (let times = thorough ? 6 : 2; times > 0; times--) {
      writer.kill('SIGKILL');
      await writer.untilDown();
      await writer.untilRunning();
      await sleep(random.between(0, 3_000));
    }
    const refused = (journal.statuses.get(503) ?? 0) - before;
    if (refused > 0) throw new Error(`ingest answered 503 to ${refused} requests: the window left no room`);
  },
};

async function isPurged({ monitorUrls }: Pick<System, 'monitorUrls'>): Promise<boolean> {
  const response = await fetch(new URL('/jsz?streams=1', monitorUrls[0]));
  const report = (await response.json()) as {
    account_details?: { stream_detail?: { name: string; state: { first_seq: number } }[] }[];
  };
  const streams = report.account_details?.flatMap(({ stream_detail }) => stream_detail ?? []) ?? [];
  return streams.some(({ name, state }) => name === firstStream.name && state.first_seq > 1);
}
