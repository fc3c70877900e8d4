import { createHistogram } from 'node:perf_hooks';

/** A histogram of durations in constant memory, precise to three significant digits. */
export interface Latencies {
  record(durationMs: number): void;
  /** @returns 0 when nothing was recorded. */
  percentileMs(percent: number): number;
}

export function createLatencies(): Latencies {
  // The histogram holds integers from 1: microseconds.
  const histogram = createHistogram({ figures: 3 });
  return {
    record: (durationMs) => histogram.record(Math.max(1, Math.round(durationMs * 1_000))),
    percentileMs: (percent) => (histogram.count === 0 ? 0 : histogram.percentile(percent) / 1_000),
  };
}
