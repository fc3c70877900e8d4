import { availableParallelism } from 'node:os';

/** The share of the byte budget that one space may use, so that its stalled requests leave room for other spaces. */
export const spaceShareOfBudget = 0.75;

/**
 * Largest batches that are read on the event loop, which they block: 65,536 values take 20 to 90 ms, and describing the
 * error in 64 KiB takes 10 ms. A real batch of 4 MiB has 49,000 values. Larger batches are read on a worker thread.
 */
export const readOnLoop = { valuesMax: 64 * 1024, badBytesMax: 64 * 1024 };

/** Most batches that are read by that thread or wait for it: each takes up to half a second, and counts against the byte budget. */
export const costlyBatchesMax = 4;

/** V8's limits for that thread. The worst batch of 4 MiB needs 120 MB; without a limit the heap grows to 700 MB. */
export const readerHeap = { maxOldGenerationSizeMb: 160, maxYoungGenerationSizeMb: 4 };

/** An idle thread is replaced after this time, to free its heap. Starting one takes a quarter of a second. */
export const readerIdleMs = 5_000;

/** Bodies of this size and larger are compressed alone, on zlib's threads; smaller ones share a segment. */
export const ownSegmentBytesMin = 64 * 1024;

/** Most bytes of bodies in one shared segment. Opening an event decompresses its whole segment: some milliseconds. */
export const sharedSegmentBytesMax = 4 * 1024 * 1024;

/** The Retry-After of a 503. */
export const retryAfterSeconds = 1;

/** Interval of the log's summary of 503s with the same reason. */
export const unavailableLogMs = 1_000;

/** How long a browser may cache the response to a preflight request. Chromium's maximum. */
export const corsMaxAgeSeconds = 7_200;

/** Most connections at a time, including slow and idle ones: each costs about 20 KB. Further ones are closed. */
const connectionsMax = 10_000;

/** Most bodies decompressed at a time: each uses one of the four threads that also compress accepted batches. */
const decodesAtOnceMax = 3;

/** A process can hold this much, however many there are: the share of a space must fit the largest OTLP request (otlp/limits.ts). */
const bytesInFlightMin = 64 * 1024 * 1024;

/** The limits of one ingest. Several processes on one machine (INGEST_PROCESSES) share what is a limit of the machine. */
export interface ProcessLimits {
  readonly connectionsMax: number;
  /** Half of the cores for all processes, so that decompression bombs leave CPU time for other requests. */
  readonly decodesAtOnceMax: number;
  readonly bytesInFlightMax: number;
}

/** @param bytesInFlightMax of all processes. */
export function limitsOfProcess(
  processes: number,
  bytesInFlightMax: number,
  cores: number = availableParallelism(),
): ProcessLimits {
  const decodes = Math.min(decodesAtOnceMax, Math.floor(cores / 2 / processes));
  return {
    connectionsMax: Math.ceil(connectionsMax / processes),
    decodesAtOnceMax: Math.max(1, decodes),
    bytesInFlightMax: Math.min(
      bytesInFlightMax,
      Math.max(bytesInFlightMin, Math.floor(bytesInFlightMax / processes)),
    ),
  };
}

/** How long a valid API key is cached. A change in the database invalidates it at once. */
export const keyCacheMs = 30_000;

/** How long an invalid API key is cached. Short, because a client drops its data on a 401. */
export const unknownKeyCacheMs = 2_000;

/** Most invalid API keys that are cached; the oldest is evicted first. */
export const unknownKeysMax = 10_000;

/** Time-out of looking up an API key in Postgres, after which the response is a 503, and of reading a space's usage. */
export const keyLookupTimeoutMs = 2_000;

/** Most API keys whose hashes ingest reads at its first look-up, some 15 MB. They need not wait behind unknown keys. */
export const knownKeysMax = 100_000;

/** Most concurrent look-ups of unknown API keys, of four connections to Postgres. */
export const unknownKeyLookupsMax = 2;

/** `last_used_at` of an API key is written at most once in this time. */
export const keyLastUseFlushMs = 60_000;

/** Longest age of the cached usage of a space with a quota. */
export const usageCacheMs = 500;

/** How long a request near its quota waits until pending events are counted, before the response is a 503. */
export const quotaSettleTimeoutMs = 2_000;

/**
 * Interval and time-out of the check of the LISTEN connection. Access changes that a dead connection missed take effect
 * after the sum of both at the latest.
 */
export const listenCheckMs = 5_000;
export const listenAnswerMs = 2_000;

/** Interval of the readiness check that all Health.Watch streams share. */
export const healthWatchMs = 1_000;

/**
 * Most Health.Watch streams at a time, since they need no API key. Each costs some 10 KB. gRPC clients with health checks
 * open one for each connection.
 */
export const healthWatchersMax = 1_000;

/** Largest request to the health service. It holds only a service name. */
export const healthMessageBytesMax = 4 * 1024;
