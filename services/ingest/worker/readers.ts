import { IngestError } from '../../../event/errors.ts';
import { openLimiter } from '../../../platform/limiter.ts';
import { costlyBatchesMax, readOnLoop } from '../limits.ts';
import { CostlyBatchError } from '../read/batch-reader.ts';
import { createReaders, type Encoding, type ReadResults } from './encodings.ts';
import { WorkerReader } from './worker-reader.ts';

/** Reads a request of each encoding, on the event loop or on the worker thread. */
export type Readers = { [E in Encoding]: (bytes: Buffer) => ReadResults[E] | Promise<ReadResults[E]> };

/**
 * Opens readers that never block the event loop for long. A batch is read on the event loop, which is fastest. If that would
 * take too long, as for 4 MiB of empty lists, it is read on a worker thread, one batch at a time (ADR 0013).
 *
 * They throw what the encodings' readers throw except CostlyBatchError, and IngestError `ingest_unavailable` when too many costly
 * batches are waiting, or the worker thread ends.
 */
export function openReaders(vendor: string): Readers & AsyncDisposable {
  const onLoop = createReaders(vendor, readOnLoop);
  const worker = new WorkerReader(vendor);
  const oneAtATime = openLimiter(1);
  let costlyBatches = 0;
  const readOnWorker = async <E extends Encoding>(encoding: E, bytes: Buffer) => {
    if (costlyBatches === costlyBatchesMax) throw tooManyCostly();
    costlyBatches += 1;
    try {
      return await oneAtATime(() => worker.read(encoding, bytes));
    } finally {
      costlyBatches -= 1;
    }
  };
  const readerOf =
    <E extends Encoding>(encoding: E) =>
    (bytes: Buffer): ReadResults[E] | Promise<ReadResults[E]> => {
      try {
        return onLoop[encoding](bytes);
      } catch (thrown) {
        if (!(thrown instanceof CostlyBatchError)) throw thrown;
        return readOnWorker(encoding, bytes);
      }
    };
  return {
    json: readerOf('json'),
    protobuf: readerOf('protobuf'),
    protobufJson: readerOf('protobufJson'),
    otlp: readerOf('otlp'),
    otlpJson: readerOf('otlpJson'),
    otlpLogs: readerOf('otlpLogs'),
    otlpLogsJson: readerOf('otlpLogsJson'),
    [Symbol.asyncDispose]: () => worker[Symbol.asyncDispose](),
  };
}

function tooManyCostly(): IngestError {
  return new IngestError(
    'ingest_unavailable',
    'Too many batches that take long to read are waiting at this moment. Retry later.',
  );
}
