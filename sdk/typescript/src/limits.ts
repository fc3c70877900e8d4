/** The limits of requests (docs/api.md §8), which are repeated here because the package imports nothing, and those of the SDK. */

/** Largest request body. */
export const bodyBytesMax = 4 * 1024 * 1024;

/** Most events in one request. */
export const batchEventsMax = 500;

/** Bytes of `{"events":[` and `]}`. */
export const envelopeBytes = 13;

/** Largest event that fits into a request of its own. */
export const eventBytesMax = bodyBytesMax - envelopeBytes;

/** Most events in memory: a process that records 1,000 events/s survives ten seconds without Weir. */
export const queueEventsMax = 10_000;

/** Most bytes in memory, serialized. With a batch in flight and its compressed copy the SDK stays below 64 MiB. */
export const queueBytesMax = 32 * 1024 * 1024;

/** A flush starts at this many events … */
export const flushEvents = 100;

/** … or this many bytes … */
export const flushBytes = 1024 * 1024;

/** … or after this time, whichever comes first. */
export const flushIntervalMs = 1_000;

/** Longest time for one request, the answer included. */
export const requestTimeoutMs = 30_000;

/** A request that is all that a process waits for is given up after this time, or twice of it. */
export const loneRequestMs = 2_000;

/** Full jitter: a wait is chosen at random below a ceiling that doubles from the first to the second of these. */
export const backoffFirstMs = 250;
export const backoffMaxMs = 30_000;

/** Longest Retry-After that is followed; a proxy that asks for more would stop delivery for too long. */
export const retryAfterMaxMs = 5 * 60_000;

/** After 401, 402 or another final refusal: time between two probes. */
export const probeIntervalMs = 60_000;

/** Age at which an undelivered event in memory is dropped. */
export const memoryAgeMaxMs = 10 * 60_000;

/**
 * Rounds of "drop the event that the 400 names, send the rest again" before the batch is bisected instead; and how often a
 * single event is sent when the 400 does not name it.
 */
export const isolateRoundsMax = 8;

/** Longest answer that is read; answers of Weir are below 1 KB. */
export const answerBytesMax = 64 * 1024;

/** `onDrop` is called at most once in this time, with the sums. */
export const dropReportIntervalMs = 10_000;

/** With a spool: an unanswered request is copied to the spool after this time. */
export const slowRequestMs = 1_000;

/** With a spool and Weir away: events go from memory to the spool this often. */
export const spoolIntervalMs = 100;

/** `flush()` and `shutdown()` give up after this time when they are given no other. */
export const flushTimeoutMs = 10_000;

/** A process that ends by itself is held open for at most this time to deliver what is left. */
export const exitFlushTimeoutMs = 5_000;

/** With `waitUntil`: events of one request are collected this long before they are sent. */
export const serverlessDelayMs = 50;

/** Browsers allow 64 KiB of keepalive bodies in flight; a page that closes sends batches below it. */
export const keepaliveBytesMax = 60 * 1024;

/** Deepest nesting that the safe serializer follows; Weir accepts 512 levels. */
export const jsonDepthMax = 200;
