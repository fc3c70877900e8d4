import { createHistogram } from 'node:perf_hooks';

/** Collects durations in constant memory, to three digits. */
export interface Latencies {
  record(durationMs: number): void;
  /** The duration that `percent` of the recorded ones do not exceed; 0 when there is none. */
  percentileMs(percent: number): number;
}

export function createLatencies(): Latencies {
  // The histogram counts whole numbers from 1 on: microseconds.
  const histogram = createHistogram({ figures: 3 });
  return {
    record: (durationMs) => histogram.record(Math.max(1, Math.round(durationMs * 1_000))),
    percentileMs: (percent) => (histogram.count === 0 ? 0 : histogram.percentile(percent) / 1_000),
  };
}
