/**
 * The limits of requests (docs/api.md §8), repeated here because the package has no imports from the
 * services, and those of the SDK.
 */

/** Largest request body. */
export const bodyBytesMax = 4 * 1024 * 1024;

/** Most events in one request. */
export const batchEventsMax = 500;

/** Bytes of `{"events":[` and `]}`. */
export const envelopeBytes = 13;

/** Largest event that fits into a request. */
export const eventBytesMax = bodyBytesMax - envelopeBytes;

/** Most events in memory: enough for ten seconds without Weir at 1,000 events/s. */
export const queueEventsMax = 10_000;

/**
 * Most bytes in memory, serialized. With a batch in flight and its compressed copy the SDK stays below 64
 * MiB.
 */
export const queueBytesMax = 32 * 1024 * 1024;

/** A flush starts at this many events … */
export const flushEvents = 100;

/** … or this many bytes … */
export const flushBytes = 1024 * 1024;

/** … or after this time, whichever comes first. */
export const flushIntervalMs = 1_000;

/** Time-out of one request, including its response. */
export const requestTimeoutMs = 30_000;

/** A request that is the only thing a process waits for is aborted after once to twice this time. */
export const loneRequestMs = 2_000;

/**
 * Back-off with full jitter: a random wait below a ceiling that doubles from the first to the second value.
 */
export const backoffFirstMs = 250;
export const backoffMaxMs = 30_000;

/** Longest Retry-After that is followed: a longer one, from a proxy, would stop delivery for too long. */
export const retryAfterMaxMs = 5 * 60_000;

/** Interval of the probes after 401, 402 or another final rejection. */
export const probeIntervalMs = 60_000;

/** Age at which an undelivered event in memory is dropped. */
export const memoryAgeMaxMs = 10 * 60_000;

/**
 * How often the event that a 400 names is dropped and the rest sent again, before the batch is bisected
 * instead; also how often a single event is sent when the 400 names no event.
 */
export const isolateRoundsMax = 8;

/** Longest response that is read; Weir's responses are below 1 KB. */
export const answerBytesMax = 64 * 1024;

/** Shortest interval between two calls of `onDrop`. */
export const dropReportIntervalMs = 10_000;

/** Default time-out of `flush()` and `shutdown()`. */
export const flushTimeoutMs = 10_000;

/** Longest time that an idle process is kept alive to deliver the remaining events. */
export const exitFlushTimeoutMs = 5_000;

/** With `waitUntil`: how long the events of one request are collected before they are sent. */
export const serverlessDelayMs = 50;

/** Largest batch that a closing page sends: browsers allow 64 KiB of keepalive bodies in flight. */
export const keepaliveBytesMax = 60 * 1024;

/** Deepest nesting that the safe serializer follows; Weir accepts 512 levels. */
export const jsonDepthMax = 200;

/**
 * Deepest nesting of spans, and longest name of one: the path is part of each event, and filters find only 4
 * KiB of dimensions.
 */
export const spanDepthMax = 16;
export const spanNameCharsMax = 100;
