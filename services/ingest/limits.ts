import { availableParallelism } from 'node:os';
import type { FairLimits } from '../../platform/fair-limiter.ts';

/**
 * Largest batches that are read on the event loop, which they block: 65,536 values take 20 to 90 ms, and
 * describing the error in 64 KiB takes 10 ms. A real batch of 4 MiB has 49,000 values. Larger batches are
 * read on a worker thread.
 */
export const readOnLoop = { valuesMax: 64 * 1024, badBytesMax: 64 * 1024 };

/**
 * That thread reads one batch at a time, which takes up to half a second, and spaces take turns. Of one space
 * few may wait: so a space waits for one batch of each other space at most, and the bodies count against the
 * byte budget of their space.
 */
export const costlyBatchLimits: FairLimits = { atOnceMax: 1, atOnceOfSpaceMax: 1, waitingOfUserMax: 3 };

/** Batches of this size and more are read one by one, in turns of the spaces. */
export const readInTurn = {
  bytesMin: 256 * 1024,
  limits: { atOnceMax: 1, atOnceOfSpaceMax: 1, waitingOfUserMax: Number.POSITIVE_INFINITY },
};

/** V8's limits for that thread. The worst batch needs 120 MB; unlimited, the heap grows to 700 MB. */
export const readerHeap = { maxOldGenerationSizeMb: 160, maxYoungGenerationSizeMb: 4 };

/** An idle thread is replaced after this time, to free its heap. Starting one takes a quarter of a second. */
export const readerIdleMs = 5_000;

/** The Retry-After of a 503. */
export const retryAfterSeconds = 1;

/** Most connections, including slow and idle ones: each costs about 20 KB. Further ones are closed. */
const connectionsMax = 10_000;

/**
 * Most sessions and streams of HTTP/2, and requests over HTTP/1.1, of clients that have not shown a valid API
 * key: each costs up to 200 KB. Beyond it the oldest is closed.
 */
const unauthenticatedMax = 1_000;

/** Most bodies decompressed at a time, each on one of the four threads that also compress batches. */
const decodesAtOnceMax = 3;

/** Least budget of a process: the share of a space must fit the largest OTLP request (otlp/limits.ts). */
const bytesInFlightMin = 64 * 1024 * 1024;

/** The limits of one ingest. Processes of one machine (INGEST_PROCESSES) share what limits the machine. */
export interface ProcessLimits {
  readonly connectionsMax: number;
  readonly unauthenticatedMax: number;
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
    unauthenticatedMax: Math.ceil(unauthenticatedMax / processes),
    decodesAtOnceMax: Math.max(1, decodes),
    bytesInFlightMax: Math.min(
      bytesInFlightMax,
      Math.max(bytesInFlightMin, Math.floor(bytesInFlightMax / processes)),
    ),
  };
}

/** Time-out of looking up an API key, after which the response is a 503, and of reading a space's usage. */
export const keyLookupTimeoutMs = 2_000;

/**
 * Interval and time-out of the check of the LISTEN connection. Access changes that a dead connection missed
 * take effect after the sum of both at the latest.
 */
export const listenCheckMs = 5_000;
export const listenAnswerMs = 2_000;
