import { dropReportIntervalMs } from '../limits.ts';
import { callSafely } from '../runtime/callback.ts';
import type { Notices } from '../runtime/notices.ts';
import type { Runtime } from '../runtime/runtime.ts';

export type DropReason =
  /** Memory, and the spool if there is one, are full. */
  | 'queue_full'
  /** Undelivered for too long: 10 minutes in memory, 24 hours in the spool. */
  | 'expired'
  /**
   * Without a spool: the process or `shutdown()` ended before a response. Weir may have stored the event
   * nevertheless.
   */
  | 'unsent'
  /** A file of the spool cannot be read. */
  | 'damaged'
  /** Weir rejected this event with a 400; `details` has the reason. */
  | 'rejected'
  /** 401: the API key is missing, wrong or revoked. */
  | 'unauthorized'
  /** 402: the space accepts no events at present. */
  | 'quota'
  /** Any other response that a retry cannot change, such as a 404 because of a wrong URL. */
  | 'refused'
  /** Larger than a request, even after truncation. */
  | 'too_large'
  /** The values cannot be serialized. */
  | 'unserializable'
  /** `mask` returned null. */
  | 'masked'
  /** Recorded after `shutdown()`, or without an API key. */
  | 'disabled';

/** The argument of `onDrop`: sums since its last call. */
export interface DropReport {
  dropped: Partial<Record<DropReason, number>>;
  /** The `details` of Weir's last error, such as `events[17].durationMs must be a number`. */
  details: string | undefined;
}

/** Numbers of events since the start. */
export interface FlushResult {
  /** Durable in Weir. */
  accepted: number;
  dropped: number;
  /** Still in memory or in the spool. */
  pending: number;
}

export interface Stats extends FlushResult {
  recorded: number;
  /** Pending events on disk. */
  spooled: number;
  /** Not recorded because of `sampleRate`. */
  sampledOut: number;
  /** Truncated because they were larger than a request. */
  truncated: number;
  /** Reduced to metadata because `mask` failed. */
  maskFailures: number;
  /**
   * Calls of embedding APIs by observed clients, which are not recorded: Weir has no type of event for them.
   */
  embeddings: number;
  droppedByReason: Partial<Record<DropReason, number>>;
}

export interface CountersOptions {
  runtime: Runtime;
  onDrop: ((report: DropReport) => void) | undefined;
  notices: Notices;
}

/** Reasons that the application knows already, from its own doing or from the notice of a pause. */
const known: readonly DropReason[] = ['masked', 'disabled', 'unauthorized', 'quota', 'refused'];

/** Counts recorded, accepted and dropped events since the start. */
export class Counters {
  recorded = 0;
  accepted = 0;
  sampledOut = 0;
  truncated = 0;
  maskFailures = 0;
  readonly dropped: Partial<Record<DropReason, number>> = {};
  readonly #options: CountersOptions;
  #unreported: Partial<Record<DropReason, number>> = {};
  #lastDetails: string | undefined;
  #reportedAtMs = -Infinity;
  #isReportDue = false;

  constructor(options: CountersOptions) {
    this.#options = options;
  }

  get droppedTotal(): number {
    return Object.values(this.dropped).reduce((sum, count) => sum + count, 0);
  }

  get settled(): number {
    return this.accepted + this.droppedTotal;
  }

  drop(reason: DropReason, events: number, details?: string): void {
    if (events === 0) return;
    this.dropped[reason] = (this.dropped[reason] ?? 0) + events;
    this.#unreported[reason] = (this.#unreported[reason] ?? 0) + events;
    this.#lastDetails = details ?? this.#lastDetails;
    this.#say(reason, events, details);
    this.#scheduleReport();
  }

  /** Calls `onDrop` now, if drops were not reported yet. */
  report(): void {
    if (Object.keys(this.#unreported).length === 0) return;
    const report = { dropped: this.#unreported, details: this.#lastDetails };
    this.#unreported = {};
    this.#lastDetails = undefined;
    this.#reportedAtMs = this.#options.runtime.nowMs();
    callSafely(() => this.#options.onDrop?.(report));
  }

  /** Without `onDrop`, which reports drops to the application. */
  #say(reason: DropReason, events: number, details: string | undefined): void {
    const { onDrop, notices } = this.#options;
    if (onDrop || known.includes(reason)) return;
    notices.say(reason, `events dropped: ${events} (${reason}${details ? `: ${details}` : ''})`);
  }

  #scheduleReport(): void {
    if (this.#isReportDue || !this.#options.onDrop) return;
    this.#isReportDue = true;
    const waitMs = this.#reportedAtMs + dropReportIntervalMs - this.#options.runtime.nowMs();
    this.#options.runtime.setTimer(
      () => {
        this.#isReportDue = false;
        this.report();
      },
      Math.max(0, waitMs),
    );
  }
}
