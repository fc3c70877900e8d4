import type { IngestError } from '../../../event/errors.ts';
import type { Logger } from '../../../platform/log.ts';

/** Interval of the log's summary of 503s with the same reason. */
export const unavailableLogMs = 1_000;

/** Errors with the same `details` within one interval. */
interface Interval {
  count: number;
  cause: unknown;
  timer: NodeJS.Timeout;
}

/**
 * Logs the errors that are sent in responses. Disposing it writes the summaries that are still due.
 *
 * - 500: one error line each, with its cause.
 * - 503: a warning at once, and then one summary a second for each `details` text. An overload or an outage
 *   fails thousands of requests a second; one line each would fill the disk.
 * - 4xx: a debug line, because the client caused it.
 */
export class FailureLog implements Disposable {
  readonly #log: Logger;
  /** By `details`. There are few of them: the details of a 503 are fixed texts. */
  readonly #intervals = new Map<string, Interval>();

  constructor(log: Logger) {
    this.#log = log;
  }

  note(error: IngestError): void {
    const { id, status } = error;
    if (id === 'ingest_unavailable') this.#count(error);
    else if (status >= 500) this.#log.error({ err: error.cause ?? error, id }, 'request failed');
    // `details` may quote property names that the client chose: do not log it.
    else this.#log.debug({ id }, 'request rejected');
  }

  [Symbol.dispose](): void {
    for (const [details, interval] of this.#intervals) {
      clearTimeout(interval.timer);
      if (interval.count > 0) this.#write(details, interval);
    }
    this.#intervals.clear();
  }

  #count({ message: details, cause }: IngestError): void {
    const interval = this.#intervals.get(details);
    if (interval !== undefined) {
      interval.count += 1;
      interval.cause = cause;
      return;
    }
    this.#write(details, { count: 1, cause });
    this.#intervals.set(details, { count: 0, cause: undefined, timer: this.#startTimer(details) });
  }

  #startTimer(details: string): NodeJS.Timeout {
    return setTimeout(() => this.#endInterval(details), unavailableLogMs).unref();
  }

  #endInterval(details: string): void {
    const interval = this.#intervals.get(details);
    if (interval === undefined || interval.count === 0) {
      this.#intervals.delete(details);
      return;
    }
    this.#write(details, interval);
    interval.count = 0;
    interval.timer = this.#startTimer(details);
  }

  #write(details: string, { count, cause }: Pick<Interval, 'count' | 'cause'>): void {
    this.#log.warn(
      { id: 'ingest_unavailable', details, requests: count, ...(cause !== undefined && { err: cause }) },
      'requests rejected with 503',
    );
  }
}
