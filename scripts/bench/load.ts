import { setTimeout as sleep } from 'node:timers/promises';
import { createLatencies, type Latencies } from '../../lib/client/latencies.ts';
import { type Protocol, type SenderOptions, senders } from './senders.ts';

export interface LoadResult {
  requests: number;
  seconds: number;
  latencies: Latencies;
}

export interface LoadOptions extends SenderOptions {
  /** JSON when absent. */
  protocol?: Protocol;
  seconds: number;
  nextBody: () => Buffer;
}

/** Keeps every connection busy: the next request leaves when the last one is answered. */
export async function runClosedLoop(options: LoadOptions): Promise<LoadResult> {
  await using client = openClient(options);
  const latencies = createLatencies();
  const startedMs = performance.now();
  const endMs = startedMs + options.seconds * 1_000;
  let requests = 0;
  const runConnection = async () => {
    while (performance.now() < endMs) {
      await client.send(options.nextBody(), latencies);
      requests += 1;
    }
  };
  await Promise.all(Array.from({ length: options.connections }, runConnection));
  return { requests, seconds: (performance.now() - startedMs) / 1_000, latencies };
}

/**
 * Sends at a given rate, however slow the answers are. Latency counts from the instant at which a request was due, so
 * that a stall is not hidden by the requests it kept from being sent.
 */
export async function runAtRate(options: LoadOptions & { requestsPerSecond: number }): Promise<LoadResult> {
  await using client = openClient(options);
  const latencies = createLatencies();
  const total = Math.floor(options.seconds * options.requestsPerSecond);
  const startedMs = performance.now();
  const underway: Promise<void>[] = [];
  for (let i = 0; i < total; i++) {
    const dueMs = startedMs + (i * 1_000) / options.requestsPerSecond;
    const body = options.nextBody();
    const waitMs = dueMs - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    underway.push(client.send(body, latencies, dueMs));
  }
  await Promise.all(underway);
  return { requests: total, seconds: (performance.now() - startedMs) / 1_000, latencies };
}

function openClient({ connection, connections, protocol = 'json' }: LoadOptions) {
  const sender = senders[protocol]({ connection, connections });
  return {
    async send(body: Buffer, latencies: Latencies, startedMs = performance.now()): Promise<void> {
      await sender.send(body);
      latencies.record(performance.now() - startedMs);
    },
    [Symbol.asyncDispose]: () => sender[Symbol.asyncDispose](),
  };
}
