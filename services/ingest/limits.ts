import { availableParallelism } from 'node:os';
import type { FairLimits } from '../../platform/fair-limiter.ts';
import { bodyBytesMax } from '../../platform/limits.ts';
import { unlimited } from './read/batch-reader.ts';

/**
 * Requests that are read on the event loop, which they block for up to 20 ms: 8,192 keys of one object, 128
 * spans, and the error in 64 KiB each take that long. A real batch of 256 KiB has 3,000 values. From
 * `inTurnBytesMin` on, one is read in each turn of the loop.
 */
export const readOnLoop = {
  bytesMax: 256 * 1024,
  valuesMax: 8 * 1024,
  badBytesMax: 64 * 1024,
  recordsMax: 128,
  inTurnBytesMin: 64 * 1024,
};

/**
 * A body of the JSON API is read event by event: a real one of 4 MiB takes 13 ms, and 40,960 keys of one
 * object 30. On the thread a batch of 500 events would cost ingest a quarter more CPU time.
 */
export const readJsonOnLoop = { ...readOnLoop, bytesMax: bodyBytesMax, valuesMax: 40 * 1024 };

/**
 * The thread for large batches reads each in up to a quarter of a second. A real batch of 4 MiB has 49,000
 * values and takes 20 ms; exporters of spans send 512 in a request.
 */
export const largeBatches = {
  limits: { bytesMax: bodyBytesMax, valuesMax: 128 * 1024, badBytesMax: 256 * 1024, recordsMax: 1_024 },
  /** A batch that is too much for it is read by the other thread. */
  resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16 },
  idleMs: 60_000,
  isStandby: true,
};

/**
 * The thread for all other batches takes up to half a second for one, or two for 32,768 spans. The worst
 * needs 120 MB; without its limits the heap would grow to 700 MB, of which V8 keeps 150.
 */
export const costlyBatches = {
  limits: unlimited,
  resourceLimits: { maxOldGenerationSizeMb: 160, maxYoungGenerationSizeMb: 8 },
  idleMs: 5_000,
  isStandby: false,
};

/**
 * One batch is read at a time, in turns of the spaces. The bodies count against the byte budget of their
 * space.
 */
export const readInTurn: FairLimits = {
  atOnceMax: 1,
  atOnceOfSpaceMax: 1,
  waitingOfUserMax: Number.POSITIVE_INFINITY,
};

/**
 * Of one space few costly batches may wait, as each takes that long. A Collector sends ten requests at a
 * time, of 8,192 spans each, and waits five seconds.
 */
export const readCostlyInTurn: FairLimits = { ...readInTurn, waitingOfUserMax: 9 };

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

export type ProcessLimits = ReturnType<typeof limitsOfProcess>;

/**
 * The limits of one ingest. Processes of one machine (INGEST_PROCESSES) share what limits the machine.
 * @param bytesInFlightMax of all processes.
 */
export function limitsOfProcess(processes: number, bytesInFlightMax: number, cores = availableParallelism()) {
  const decodes = Math.min(decodesAtOnceMax, Math.floor(cores / 2 / processes));
  return {
    connectionsMax: Math.ceil(connectionsMax / processes),
    unauthenticatedMax: Math.ceil(unauthenticatedMax / processes),
    // Half of the cores for all processes: decompression bombs leave CPU time for other requests.
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
