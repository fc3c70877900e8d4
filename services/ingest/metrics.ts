import type { IncomingMessage } from 'node:http';
import { IngestError } from '../../event/errors.ts';
import { type BoundCounter, defineBoundCounters } from '../../platform/metrics/bound-counter.ts';
import { defineCounter, defineGauge, defineHistogram } from '../../platform/metrics/define.ts';
import { secondsBuckets } from '../../platform/metrics/limits.ts';
import { ClientGoneError } from './body/body.ts';
import type { ByteBudgets } from './body/byte-budget.ts';
import { contentEncodings } from './body/decode.ts';

const protocols = ['json', 'connect', 'grpc', 'grpc-web', 'otlp-http', 'otlp-rpc'] as const;

/** The protocol of a request, as a label. */
export type Protocol = (typeof protocols)[number];

const requests = defineBoundCounters({
  name: 'weir_ingest_requests_total',
  help: 'Requests with events, by the id of the error that they were answered with, or `accepted`.',
  labelNames: ['protocol', 'outcome'],
});
const durations = defineHistogram({
  name: 'weir_ingest_request_duration_seconds',
  help: 'Time from the headers of a request until its events are on disk, or it is rejected.',
  labelNames: ['protocol', 'outcome'],
  buckets: secondsBuckets,
});
const events = defineBoundCounters({
  name: 'weir_ingest_events_total',
  help: 'Accepted events. Events that are sent again count again.',
  labelNames: ['protocol'],
});
const bodyBytes = defineBoundCounters({
  name: 'weir_ingest_body_bytes_total',
  help: 'Bytes of request bodies, as they were received.',
  labelNames: ['encoding'],
});
const groupBatches = defineHistogram({
  name: 'weir_ingest_group_batches',
  help: 'Batches in one message of the queue.',
  buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
});
const groupBytes = defineHistogram({
  name: 'weir_ingest_group_bytes',
  help: 'Bytes of one message of the queue.',
  buckets: [1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 8_388_608],
});
const quotaRefusals = defineCounter({
  name: 'weir_quota_refusals_total',
  help: 'Requests that were refused with 402.',
  labelNames: ['reason'],
});

const shed = defineCounter({
  name: 'weir_ingest_shed_total',
  help: 'Connections, and streams of HTTP/2, that were closed because too many clients had shown no valid API key.',
});

interface RequestSeries {
  readonly counter: BoundCounter;
  readonly duration: { observe(seconds: number): void };
}

const byProtocol = <T>(make: (protocol: Protocol) => T) =>
  Object.fromEntries(protocols.map((protocol) => [protocol, make(protocol)])) as Record<Protocol, T>;
const requestSeries = byProtocol(() => new Map<string, RequestSeries>());
const eventsOf = byProtocol((protocol) => events.bind({ protocol }));
const bytesOf = new Map<string, BoundCounter>(
  ['identity', ...contentEncodings].map((encoding) => [encoding, bodyBytes.bind({ encoding })]),
);
const otherBytes = bodyBytes.bind({ encoding: 'other' });

// rate() misses the first increment of a counter that did not exist before.
for (const protocol of protocols) seriesOf(protocol, 'ingest_unavailable');
for (const reason of ['usage_limit_exceeded', 'billing_not_active']) quotaRefusals.inc({ reason }, 0);

/**
 * Counts a request and measures its duration.
 * @param run resolves with the number of accepted events.
 * @throws what `run` throws.
 */
export async function measureRequest<T extends { eventCount: number }>(
  protocol: Protocol,
  run: () => Promise<T>,
): Promise<T> {
  const startedMs = performance.now();
  try {
    const result = await run();
    countRequest(protocol, 'accepted', startedMs);
    eventsOf[protocol].add(result.eventCount);
    return result;
  } catch (error) {
    const outcome = outcomeOf(error);
    countRequest(protocol, outcome, startedMs);
    if (outcome === 'usage_limit_exceeded' || outcome === 'billing_not_active')
      quotaRefusals.inc({ reason: outcome });
    throw error;
  }
}

/** The outcome of a request that threw, as a label. */
export function outcomeOf(error: unknown): string {
  return error instanceof ClientGoneError ? 'client_gone' : IngestError.from(error).id;
}

/** One update of the library a request: the others are additions. */
function countRequest(protocol: Protocol, outcome: string, startedMs: number): void {
  const { counter, duration } = seriesOf(protocol, outcome);
  counter.add(1);
  duration.observe((performance.now() - startedMs) / 1_000);
}

/** The series of a protocol and an outcome, bound at first use: in all they would be over a thousand. */
function seriesOf(protocol: Protocol, outcome: string): RequestSeries {
  return requestSeries[protocol].getOrInsertComputed(outcome, () => ({
    counter: requests.bind({ protocol, outcome }),
    duration: durations.labels({ protocol, outcome }),
  }));
}

/** Counts the bytes of a request's body, before decompression. */
export function countBody({ headers }: IncomingMessage, bytes: number): void {
  const named = String(headers['content-encoding'] ?? headers['grpc-encoding'] ?? 'identity').toLowerCase();
  (bytesOf.get(named) ?? otherBytes).add(bytes);
}

export function countShed(): void {
  shed.inc();
}

/** Measures a message of the queue. */
export function measureGroup(batches: number, bytes: number): void {
  groupBatches.observe(batches);
  groupBytes.observe(bytes);
}

/** Shows the bytes that requests hold in memory. */
export function registerBudgetMetrics(budgets: ByteBudgets): void {
  defineGauge({
    name: 'weir_ingest_in_flight_bytes',
    help: 'Bytes of requests in memory.',
    collect() {
      this.set(budgets.usedBytes);
    },
  });
  defineGauge({
    name: 'weir_ingest_in_flight_bytes_max',
    help: 'INGEST_BYTES_IN_FLIGHT_MAX: requests beyond it are answered with 503.',
  }).set(budgets.bytesMax);
}
