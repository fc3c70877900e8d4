import type { Logger } from '../../../platform/log.ts';
import type { SpanCounts } from './batch/span-batch.ts';
import { spanCountsLogMs } from './limits.ts';

/**
 * Counts the stored, rejected and filtered spans of all requests, and logs the sums at most once in
 * `spanCountsLogMs`: responses do not report filtered spans to exporters. Disposing it logs the remaining
 * counts.
 */
export class SpanCounter implements Disposable {
  readonly #log: Logger;
  #sums: SpanCounts = noSpans();
  #timer: NodeJS.Timeout | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Adds the counts of one request whose events are durable. */
  add({ stored, rejected, filtered }: SpanCounts): void {
    this.#sums.stored += stored;
    this.#sums.rejected += rejected;
    for (const reason of Object.keys(filtered) as (keyof typeof filtered)[]) {
      this.#sums.filtered[reason] = (this.#sums.filtered[reason] ?? 0) + (filtered[reason] ?? 0);
    }
    this.#timer ??= setTimeout(() => this.#write(), spanCountsLogMs).unref();
  }

  [Symbol.dispose](): void {
    if (this.#timer !== undefined) this.#write();
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#log.info(this.#sums, 'spans received');
    this.#sums = noSpans();
  }
}

function noSpans(): SpanCounts {
  return { stored: 0, rejected: 0, filtered: {} };
}
