/** The limits of requests (docs/api.md §8, §2), and those that several rooms share. */

/** Largest request body, before and after decoding (docs/api.md §8). */
export const bodyBytesMax = 4 * 1024 * 1024;

/** Largest OTLP request: a batch of 512 spans with real prompts exceeds 4 MiB, and a 413 loses it. */
export const otlpBodyBytesMax = 16 * 1024 * 1024;

/**
 * Largest media that are uploaded apart from spans. They are one message, and fit into the smallest that a
 * queue may take (`payloadBytesMin`).
 */
export const mediaBytesMax = 6 * 1024 * 1024;

/** Flags and length before a gRPC or gRPC-Web message. They do not count towards the 4 MiB. */
export const envelopeBytes = 5;

/** Most events in one request (docs/api.md §8). */
export const eventsPerBatchMax = 500;

/** Deepest JSON nesting of a request body. It bounds recursion; deeper nesting is an attack or a bug. */
export const jsonDepthMax = 512;

/** The range of an ECMAScript date, for times and durations. */
export const timeMsMax = 8.64e15;

export const errorDetailsCharsMax = 500;

export const retentionDaysMax = 36_500;

/** Time after SIGTERM in which a service finishes its work. The supervisor waits for it. */
export const drainTimeoutMs = 10_000;
