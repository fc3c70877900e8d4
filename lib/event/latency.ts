/**
 * Upper bounds of the latency histogram of `event_stats`, in milliseconds: three a decade, from a cache hit to a
 * long agent run. The last bucket of a histogram has no bound. Changing them would mix up stored histograms.
 */
export const latencyBucketsMs = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000,
] as const;
