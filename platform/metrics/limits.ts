/** A few Prometheus servers and probes. */
export const requestsMax = 32;

export const requestTimeoutMs = 10_000;

/** How long figures of the queue and of Postgres are reused by scrapes, in milliseconds. */
export const figureReuseMs = 5_000;

/** Upper bounds of histograms of durations, in seconds: from a small request to the time-outs. */
export const secondsBuckets = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export const summaryMs = 10_000;
