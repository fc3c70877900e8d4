/** The limits of requests (docs/api.md §8, §2), and those that several rooms share. */
/** The limits of requests (docs/api.md §8, §2). */

/** Largest request body, before and after decoding (docs/api.md §8). */
export const bodyBytesMax = 4 * 1024 * 1024;

/**
 * Largest OTLP request, before and after decoding. One batch of an exporter has 512 spans, which exceed 4 MiB
 * with real prompts, and a 413 loses all of them.
 */
export const otlpBodyBytesMax = 16 * 1024 * 1024;

/** Bytes before a gRPC or gRPC-Web message, of flags and length. They do not count towards the 4 MiB. */
export const envelopeBytes = 5;

/** Most events in one request (docs/api.md §8). */
export const eventsPerBatchMax = 500;

/** Deepest JSON nesting of a request body. It bounds recursion; deeper nesting is an attack or a bug. */
export const jsonDepthMax = 512;

/** Times and durations lie within ±8.64e15 ms: the range of an ECMAScript date. */
export const timeMsMax = 8.64e15;

/** Longest `details` text, in characters: it quotes keys that a client chose. */
export const errorDetailsCharsMax = 500;

/** Longest retention, in days: a hundred years. */
export const retentionDaysMax = 36_500;

/** How long a service may take after SIGTERM to finish its work. The supervisor waits for it. */
export const drainTimeoutMs = 10_000;
