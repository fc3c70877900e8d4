import { createHistogram } from 'node:perf_hooks';

export type Latencies = ReturnType<typeof createLatencies>;

/** A histogram of durations in constant memory, precise to three significant digits. */
export function createLatencies() {
  // The histogram holds integers from 1: microseconds.
  const histogram = createHistogram({ figures: 3 });
  return {
    record: (durationMs: number): void => histogram.record(Math.max(1, Math.round(durationMs * 1_000))),
    /** @returns 0 when nothing was recorded. */
    percentileMs: (percent: number): number =>
      histogram.count === 0 ? 0 : histogram.percentile(percent) / 1_000,
  };
}
