import { setImmediate as afterPoll } from 'node:timers/promises';
import { IngestError } from '../../../event/errors.ts';
import { openFairLimiter, QueueFullError } from '../../../platform/fair-limiter.ts';
import {
  costlyBatches,
  largeBatches,
  readCostlyInTurn,
  readInTurn,
  readJsonOnLoop,
  readOnLoop,
} from '../limits.ts';
import { CostlyBatchError } from '../read/batch-reader.ts';
import { createReaders, type Encoding, type ReadResults } from './encodings.ts';
import { WorkerReader } from './worker-reader.ts';

/** Reads requests, on the event loop or a thread, in turns with those of other spaces. */
export type Readers = {
  [E in Encoding]: (bytes: Buffer, spaceId: string) => ReadResults[E] | Promise<ReadResults[E]>;
};

/**
 * Opens readers that never block the event loop for long (ADR 0013). What takes little is read on the event
 * loop, which is fastest; a large request on a thread; and one that would keep that thread from others, as 4
 * MiB of empty lists do, on a second thread. Each reads one batch at a time, in turns of the spaces.
 *
 * They throw what the encodings' readers throw except CostlyBatchError, and IngestError `ingest_unavailable`
 * when too many costly batches of the space are waiting, or the thread that reads one ends.
 */
export function openReaders(vendor: string): Readers & AsyncDisposable {
  const onLoop = createReaders(vendor, readOnLoop, readJsonOnLoop);
  const large = new WorkerReader(vendor, largeBatches);
  const costly = new WorkerReader(vendor, costlyBatches);
  const [takeLoop, takeLarge] = [openFairLimiter(readInTurn), openFairLimiter(readInTurn)];
  const takeCostly = openFairLimiter(readCostlyInTurn);
  const readLarge = async <E extends Encoding>(encoding: E, bytes: Buffer, spaceId: string) => {
    const caller = { spaceId, holderId: spaceId };
    try {
      if (bytes.length <= largeBatches.limits.bytesMax)
        return await takeLarge(caller, () => large.read(encoding, bytes));
    } catch (thrown) {
      if (!isTooMuch(thrown)) throw thrown;
    }
    return takeCostly(caller, () => costly.read(encoding, bytes)).catch((thrown) => {
      throw thrown instanceof QueueFullError ? tooManyCostly() : thrown;
    });
  };
  const readerOf =
    <E extends Encoding>(encoding: E, { bytesMax } = readOnLoop) =>
    (bytes: Buffer, spaceId: string): ReadResults[E] | Promise<ReadResults[E]> => {
      if (bytes.length > bytesMax) return readLarge(encoding, bytes, spaceId);
      const orAsLarge = (thrown: unknown) => {
        if (!(thrown instanceof CostlyBatchError)) throw thrown;
        return readLarge(encoding, bytes, spaceId);
      };
      if (bytes.length >= readOnLoop.inTurnBytesMin) {
        // Between two batches the event loop serves what has arrived.
        const read = () => afterPoll().then(() => onLoop[encoding](bytes));
        return takeLoop({ spaceId, holderId: spaceId }, read).catch(orAsLarge);
      }
      try {
        return onLoop[encoding](bytes);
      } catch (thrown) {
        return orAsLarge(thrown);
      }
    };
  return {
    json: readerOf('json', readJsonOnLoop),
    protobuf: readerOf('protobuf'),
    protobufJson: readerOf('protobufJson'),
    otlp: readerOf('otlp'),
    otlpJson: readerOf('otlpJson'),
    otlpLogs: readerOf('otlpLogs'),
    otlpLogsJson: readerOf('otlpLogsJson'),
    async [Symbol.asyncDispose]() {
      await Promise.all([large, costly].map((worker) => worker[Symbol.asyncDispose]()));
    },
  };
}

/**
 * Whether a batch is too much for the thread for large ones: for its limits, or for its heap, which ends it.
 */
function isTooMuch(thrown: unknown): boolean {
  if (thrown instanceof CostlyBatchError) return true;
  return thrown instanceof IngestError && thrown.id === 'ingest_unavailable';
}

function tooManyCostly(): IngestError {
  return new IngestError(
    'ingest_unavailable',
    'Too many batches of the space that take long to read are waiting at this moment. Retry later.',
  );
}
