import type { Latencies } from '../client/latencies.ts';
import type { SendError } from '../client/send-with-retry.ts';

/** Most distinct errors in a summary: each may quote a part of the input. */
const sendErrorsMax = 100;

/** `status` is null without a response. */
export interface CountedError extends SendError {
  events: number;
}

export interface SendCounts {
  accepted: number;
  /** Includes lines that could not be sent. */
  rejected: number;
  /** Spans that are not calls of models or tools; absent for a file of events. */
  filtered?: number;
  errors: CountedError[];
}

/** Counts include what was sent before an interruption; the other figures do not. */
export interface SendSummary extends SendCounts {
  /** Why the rest was not sent: Weir was away or not ready for as long as requests are retried. */
  stopped?: SendError;
  /** Includes retries. */
  requests: number;
  retries: number;
  eventsPerSecond: number;
  /** Latency of the answered requests. */
  p50Ms: number;
  p99Ms: number;
}

/** Counts the outcomes of requests. */
export class Tally {
  accepted = 0;
  rejected = 0;
  requests = 0;
  retries = 0;
  #filtered: number | undefined;
  readonly #errors = new Map<string, CountedError>();
  readonly #acceptedBefore: number;

  /** @param before outcomes of an earlier command, which this one continues. */
  constructor(before?: SendCounts) {
    if (before !== undefined) this.#addCounts(before);
    this.#acceptedBefore = this.accepted;
  }

  addAccepted(events: number): void {
    this.accepted += events;
  }

  addRejected(error: SendError, events: number): void {
    this.rejected += events;
    countError(this.#errors, error, events);
  }

  addFiltered(spans: number): void {
    this.#filtered = (this.#filtered ?? 0) + spans;
  }

  addRequests(attempts: number): void {
    this.requests += attempts;
    this.retries += attempts - 1;
  }

  merge(other: Tally): void {
    this.#addCounts(other.counts());
    this.requests += other.requests;
    this.retries += other.retries;
  }

  counts(): SendCounts {
    const { accepted, rejected } = this;
    const filtered = this.#filtered;
    return {
      accepted,
      rejected,
      ...(filtered !== undefined && { filtered }),
      errors: [...this.#errors.values()],
    };
  }

  sum(durationMs: number, latencies: Latencies): SendSummary {
    const accepted = this.accepted - this.#acceptedBefore;
    return {
      ...this.counts(),
      ...{ requests: this.requests, retries: this.retries },
      eventsPerSecond: durationMs === 0 ? 0 : Math.round((accepted / durationMs) * 1_000),
      p50Ms: round(latencies.percentileMs(50)),
      p99Ms: round(latencies.percentileMs(99)),
    };
  }

  #addCounts({ accepted, rejected, filtered, errors }: SendCounts): void {
    this.accepted += accepted;
    this.rejected += rejected;
    if (filtered !== undefined) this.addFiltered(filtered);
    for (const { events, ...error } of errors) countError(this.#errors, error, events);
  }
}

/** Equal errors share an entry. Past the limit, further errors of one status and id share an entry. */
function countError(errors: Map<string, CountedError>, error: SendError, events: number): void {
  const exact = JSON.stringify([error.status, error.id, error.details]);
  const full = errors.size >= sendErrorsMax && !errors.has(exact);
  const key = full ? JSON.stringify([error.status, error.id]) : exact;
  const counted = errors.get(key);
  if (counted !== undefined) counted.events += events;
  else errors.set(key, { ...error, ...(full && { details: 'more of this kind' }), events });
}

export function describeSummary(summary: SendSummary): string {
  const { accepted, rejected, filtered, requests, retries } = summary;
  const lines = [
    `Accepted ${count(accepted, 'event')} at ${summary.eventsPerSecond.toLocaleString('en')} events/s, in ${count(requests, 'request')} (${count(retries, 'retry', 'retries')}), p50 ${summary.p50Ms} ms, p99 ${summary.p99Ms} ms.`,
  ];
  if (filtered !== undefined && filtered > 0) {
    lines.push(
      `Skipped ${count(filtered, 'span')} that ${filtered === 1 ? 'is not a call' : 'are not calls'} of a model or a tool.`,
    );
  }
  if (rejected > 0 || summary.errors.length > 0) lines.push(`Rejected ${count(rejected, 'event')}:`);
  for (const { events, status, id, details } of summary.errors) {
    lines.push(`  ${events.toLocaleString('en')} × ${status === null ? '' : `${status} `}${id}: ${details}`);
  }
  if (summary.stopped !== undefined) {
    const { status, id, details } = summary.stopped;
    lines.push(`Stopped: ${status === null ? '' : `${status} `}${id}: ${details}`);
  }
  return lines.join('\n');
}

function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? noun : plural}`;
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10;
}
