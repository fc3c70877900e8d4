import { setImmediate as afterPoll } from 'node:timers/promises';
import { IngestError } from '../../../event/errors.ts';
import { openFairLimiter, QueueFullError } from '../../../platform/fair-limiter.ts';
import { costlyBatchLimits, readInTurn, readOnLoop } from '../limits.ts';
import { CostlyBatchError } from '../read/batch-reader.ts';
import { createReaders, type Encoding, type ReadResults } from './encodings.ts';
import { WorkerReader } from './worker-reader.ts';

/** Reads requests, on the event loop or the worker thread, in turns with those of other spaces. */
export type Readers = {
  [E in Encoding]: (bytes: Buffer, spaceId: string) => ReadResults[E] | Promise<ReadResults[E]>;
};

/**
 * Opens readers that never block the event loop for long. A batch is read on the event loop, which is
 * fastest. If that would take too long, as for 4 MiB of empty lists, it is read on a worker thread, one batch
 * at a time (ADR 0013). Large batches, and those of the worker, are read in turns: one of each space that has
 * some.
 *
 * They throw what the encodings' readers throw except CostlyBatchError, and IngestError `ingest_unavailable`
 * when too many costly batches of the space are waiting, or the worker thread ends.
 */
export function openReaders(vendor: string): Readers & AsyncDisposable {
  const onLoop = createReaders(vendor, readOnLoop);
  const worker = new WorkerReader(vendor);
  const takeLoop = openFairLimiter(readInTurn.limits);
  const takeWorker = openFairLimiter(costlyBatchLimits);
  const readOnWorker = async <E extends Encoding>(encoding: E, bytes: Buffer, spaceId: string) => {
    try {
      return await takeWorker({ spaceId, holderId: spaceId }, () => worker.read(encoding, bytes));
    } catch (thrown) {
      throw thrown instanceof QueueFullError ? tooManyCostly() : thrown;
    }
  };
  const readLarge = <E extends Encoding>(encoding: E, bytes: Buffer, spaceId: string) =>
    takeLoop({ spaceId, holderId: spaceId }, async () => {
      // Between two large batches the event loop serves what has arrived.
      await afterPoll();
      return onLoop[encoding](bytes);
    });
  const readerOf =
    <E extends Encoding>(encoding: E) =>
    (bytes: Buffer, spaceId: string): ReadResults[E] | Promise<ReadResults[E]> => {
      const orOnWorker = (thrown: unknown) => {
        if (!(thrown instanceof CostlyBatchError)) throw thrown;
        return readOnWorker(encoding, bytes, spaceId);
      };
      if (bytes.length >= readInTurn.bytesMin) return readLarge(encoding, bytes, spaceId).catch(orOnWorker);
      try {
        return onLoop[encoding](bytes);
      } catch (thrown) {
        return orOnWorker(thrown);
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
    'Too many batches of the space that take long to read are waiting at this moment. Retry later.',
  );
}
