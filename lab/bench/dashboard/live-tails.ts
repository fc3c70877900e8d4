import { get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { openIngestClient } from '../../../cli/client/ingest-client.ts';
import { createLatencies } from '../../../cli/client/latencies.ts';
import { until } from '../../../harness/wait.ts';
import type { Connection } from '../../../launcher/local-system.ts';
import type { Workload } from '../workload.ts';

/**
 * Live streams whose responses are read but not parsed: the client shares the machine with the measured
 * service.
 */
export interface LiveTails extends Disposable {
  /** Resolves with the time until each stream has shown an event with this id, in milliseconds. */
  timeOf(id: string, fromMs: number): Promise<number[]>;
}

export async function openTails(
  { dashboardUrl, spaceId }: Pick<Connection, 'dashboardUrl' | 'spaceId'>,
  cookie: string,
  count: number,
): Promise<LiveTails> {
  const input = encodeURIComponent(JSON.stringify({ spaceId }));
  const watchers = new Set<(stream: number, text: string) => void>();
  const responses: IncomingMessage[] = [];
  let ready = 0;
  for (let stream = 0; stream < count; stream++) {
    const request = get(`${dashboardUrl}/trpc/live.tail?input=${input}`, {
      headers: { cookie },
      agent: false,
    });
    request.on('response', (response) => {
      responses.push(response);
      let isReady = false;
      // The end of a chunk is kept: an id may be cut in two.
      let rest = '';
      response.setEncoding('latin1').on('data', (chunk: string) => {
        if (!isReady && chunk.includes('"status"')) {
          isReady = true;
          ready += 1;
        }
        for (const watch of watchers) watch(stream, rest + chunk);
        rest = chunk.slice(-40);
      });
      response.on('error', () => {});
    });
  }
  await until(() => ready === count, 30_000);
  return {
    async timeOf(id, fromMs) {
      const times = new Map<number, number>();
      const watch = (stream: number, text: string) => {
        if (!times.has(stream) && text.includes(id)) times.set(stream, performance.now() - fromMs);
      };
      watchers.add(watch);
      await until(() => times.size === count, 30_000).finally(() => watchers.delete(watch));
      return [...times.values()];
    },
    [Symbol.dispose]() {
      for (const response of responses) response.destroy();
    },
  };
}

/** Measures the time from an event's 202 until the streams have it, one event after another. */
export async function measureTailLatency(
  { ingestUrl: url, apiKey }: Connection,
  tails: LiveTails,
  { workload, samples }: { workload: Workload; samples: number },
) {
  await using client = openIngestClient({ url, apiKey, connections: 1, timeoutMs: 10_000 });
  const latencies = createLatencies();
  for (let i = 0; i < samples; i++) {
    const body = workload.nextSingle();
    const id: string = JSON.parse(body.toString()).events[0].id;
    // Watched from before the request: it may be shown before the client has read the 202.
    const sentMs = performance.now();
    const seen = tails.timeOf(id, sentMs);
    await client.post(body);
    const acceptedAfterMs = performance.now() - sentMs;
    for (const ms of await seen) latencies.record(Math.max(0, ms - acceptedAfterMs));
    await sleep(150);
  }
  return { tailP50Ms: latencies.percentileMs(50), tailP99Ms: latencies.percentileMs(99) };
}
