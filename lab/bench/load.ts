import { setTimeout as sleep } from 'node:timers/promises';
import { createLatencies, type Latencies } from '../../cli/client/latencies.ts';
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

/** Keeps every connection busy: sends the next request when the previous response has arrived. */
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
 * Sends at a fixed rate, independently of the responses. Latency is measured from the time at which a request
 * was due, so that a stall also counts for the requests it delayed (no coordinated omission).
 */
export async function runAtRate(options: LoadOptions & { requestsPerSecond: number }): Promise<LoadResult> {
  await using client = openClient(options);
  const latencies = createLatencies();
  const total = Math.floor(options.seconds * options.requestsPerSecond);
  const startedMs = performance.now();
  const inFlight: Promise<void>[] = [];
  for (let i = 0; i < total; i++) {
    const dueMs = startedMs + (i * 1_000) / options.requestsPerSecond;
    const body = options.nextBody();
    const waitMs = dueMs - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    inFlight.push(client.send(body, latencies, dueMs));
  }
  await Promise.all(inFlight);
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
