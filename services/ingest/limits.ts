import { availableParallelism } from 'node:os';

/** The share of the byte budget that one space may use, so that a space that stalls leaves room for the others. */
export const spaceShareOfBudget = 0.75;

/**
 * What is read on the event loop, which serves nobody else meanwhile: 65,536 values take 20 to 90 ms, and describing the
 * error in 64 KiB takes 10. A real batch of 4 MiB has 49,000 values. Batches above these limits are read on a worker thread.
 */
export const readOnLoop = { valuesMax: 64 * 1024, badBytesMax: 64 * 1024 };

/** Most such batches at a time: each takes up to half a second, and its bytes count against the byte budget. */
export const costlyBatchesMax = 4;

/** V8's limits for that thread. The worst batch of 4 MiB needs 120 MB; without a limit V8 lets the heap grow to 700. */
export const readerHeap = { maxOldGenerationSizeMb: 160, maxYoungGenerationSizeMb: 4 };

/** How long that thread is idle before it is replaced, to free its heap. Starting one takes a quarter of a second. */
export const readerIdleMs = 5_000;

/** Bodies of this size and larger are compressed alone, on zlib's threads; smaller ones share a segment. */
export const ownSegmentBytesMin = 64 * 1024;

/** Most bytes of bodies in one shared segment. Opening an event decompresses its whole segment: some milliseconds. */
export const sharedSegmentBytesMax = 4 * 1024 * 1024;

/** Seconds a client is asked to wait after a 503. */
export const retryAfterSeconds = 1;

/** 503s with the same reason are logged as one summary in this time. */
export const unavailableLogMs = 1_000;

/** How long a browser may cache the response to a preflight request. Chromium's maximum. */
export const corsMaxAgeSeconds = 7_200;

/** Most connections at a time, including slow and silent ones: each costs about 20 KB. Further ones are closed. */
export const connectionsMax = 10_000;

/**
 * Most bodies decompressed at a time: on half of the cores, for bombs must leave some to everybody else. Each works on one
 * of the four threads that accepted batches are compressed on as well.
 */
export const decodesAtOnceMax = Math.min(3, Math.max(1, Math.floor(availableParallelism() / 2)));

/** How long a good API key's answer is reused; a change in the database removes it at once. */
export const keyCacheMs = 30_000;

/** How long a bad API key's answer is reused. Short: a client drops its data on a 401. */
export const unknownKeyCacheMs = 2_000;

/** Most bad API keys remembered; the oldest leaves first. */
export const unknownKeysMax = 10_000;

/** How long ingest waits for Postgres to know an API key before it answers 503, and for the usage of a space. */
export const keyLookupTimeoutMs = 2_000;

/** Most API keys whose hashes ingest reads at its start, some 15 MB. They are looked up before keys that may be invented. */
export const knownKeysMax = 100_000;

/** Most API keys never seen before that ingest asks Postgres about at a time, of its four connections. */
export const unknownKeyLookupsMax = 2;

/** `last_used_at` of an API key is written at most once in this time. */
export const keyLastUseFlushMs = 60_000;

/** How old ingest's view of the usage of a space with a quota may be. */
export const usageCacheMs = 500;

/** How long a request at the edge of its quota waits for the queue to be counted, before it is answered with a 503. */
export const quotaSettleTimeoutMs = 2_000;

/**
 * How often ingest makes sure that it would hear of access changes, and how long the answer may take: what a connection
 * that died in silence hides of them is hidden no longer than both.
 */
export const listenCheckMs = 5_000;
export const listenAnswerMs = 2_000;

/** How often readiness is checked for the watchers of the gRPC health service. All of them share one check. */
export const healthWatchMs = 1_000;

/**
 * Most Health.Watch streams at a time; they need no API key. Each costs some 10 KB. gRPC clients with health checks open
 * one for each connection.
 */
export const healthWatchersMax = 1_000;

/** Largest request to the health service: it holds a service name. */
export const healthMessageBytesMax = 4 * 1024;
