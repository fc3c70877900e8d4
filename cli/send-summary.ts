import type { DeliveryError } from '../lib/client/deliver.ts';
import type { Latencies } from '../lib/client/latencies.ts';
import { sendErrorsMax } from '../lib/limits.ts';

/** An error, and how many events met it. `status` is null where no answer came. */
export interface CountedError extends DeliveryError {
  events: number;
}

/** What `send` prints at its end. */
export interface SendSummary {
  accepted: number;
  /** Events that are not accepted, lines that could not be sent included. */
  rejected: number;
  errors: CountedError[];
  /** Requests made, retries included. */
  requests: number;
  retries: number;
  eventsPerSecond: number;
  /** Of the requests that were answered. */
  p50Ms: number;
  p99Ms: number;
}

/** Counts what becomes of the events. */
export interface Tally {
  addAccepted(events: number): void;
  addRejected(error: DeliveryError, events: number): void;
  /** Adds the requests that one body took. */
  addRequests(attempts: number): void;
  accepted(): number;
  rejected(): number;
  sum(durationMs: number, latencies: Latencies): SendSummary;
}

export function createTally(): Tally {
  const errors = new Map<string, CountedError>();
  let accepted = 0;
  let rejected = 0;
  let requests = 0;
  let retries = 0;
  return {
    addAccepted: (events) => {
      accepted += events;
    },
    addRejected: (error, events) => {
      rejected += events;
      countError(errors, error, events);
    },
    addRequests: (attempts) => {
      requests += attempts;
      retries += attempts - 1;
    },
    accepted: () => accepted,
    rejected: () => rejected,
    sum: (durationMs, latencies) => ({
      accepted,
      rejected,
      errors: [...errors.values()],
      requests,
      retries,
      eventsPerSecond: durationMs === 0 ? 0 : Math.round((accepted / durationMs) * 1_000),
      p50Ms: round(latencies.percentileMs(50)),
      p99Ms: round(latencies.percentileMs(99)),
    }),
  };
}

/** Equal errors are one entry. When there are too many different ones, those of one kind share an entry. */
function countError(errors: Map<string, CountedError>, error: DeliveryError, events: number): void {
  const exact = JSON.stringify([error.status, error.id, error.details]);
  const full = errors.size >= sendErrorsMax && !errors.has(exact);
  const key = full ? JSON.stringify([error.status, error.id]) : exact;
  const counted = errors.get(key);
  if (counted !== undefined) counted.events += events;
  else errors.set(key, { ...error, ...(full && { details: 'more of this kind' }), events });
}

/** The summary in words. */
export function describeSummary(summary: SendSummary): string {
  const { accepted, rejected, requests, retries } = summary;
  const lines = [
    `Accepted ${count(accepted, 'event')} at ${summary.eventsPerSecond.toLocaleString('en')} events/s, in ${count(requests, 'request')} (${count(retries, 'retry', 'retries')}), p50 ${summary.p50Ms} ms, p99 ${summary.p99Ms} ms.`,
  ];
  if (rejected > 0 || summary.errors.length > 0) lines.push(`Rejected ${count(rejected, 'event')}:`);
  for (const { events, status, id, details } of summary.errors) {
    lines.push(`  ${events.toLocaleString('en')} × ${status === null ? '' : `${status} `}${id}: ${details}`);
  }
  return lines.join('\n');
}

function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? noun : plural}`;
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10;
}
