import { IngestError } from '../../lib/errors.ts';
import { openGate } from '../../lib/gate.ts';
import { costlyBatchesMax, readOnLoop } from '../../lib/limits.ts';
import { CostlyReader } from './costly-reader.ts';
import { CostlyBatchError } from './read-limits.ts';
import { type BatchForm, compileReaders, type ReadBatch } from './readers.ts';

/** Reads a batch of each form, as BatchReader does, and however much work it is. */
export type Readers = Record<BatchForm, (bytes: Buffer) => ReadBatch | Promise<ReadBatch>>;

/**
 * Readers that hold up nobody else. A batch is read on the event loop, where it is fastest; one that would keep the loop
 * from other requests for long, as a body of 4 MiB with a million empty lists does, is read on a thread of its own, one at
 * a time (ADR 13).
 *
 * They throw what BatchReader throws, CostlyBatchError aside, and IngestError `ingest_unavailable` when too many costly
 * batches wait already, or the thread is gone.
 */
export function openReaders(vendor: string): Readers & AsyncDisposable {
  const onLoop = compileReaders(vendor, readOnLoop);
  const thread = new CostlyReader(vendor);
  const inTurn = openGate(1);
  let costlyBatches = 0;
  const readCostly = async (form: BatchForm, bytes: Buffer) => {
    if (costlyBatches === costlyBatchesMax) throw tooManyCostly();
    costlyBatches += 1;
    try {
      return await inTurn(() => thread.read(form, bytes));
    } finally {
      costlyBatches -= 1;
    }
  };
  const readerOf = (form: BatchForm) => (bytes: Buffer) => {
    try {
      return onLoop[form](bytes);
    } catch (thrown) {
      if (!(thrown instanceof CostlyBatchError)) throw thrown;
      return readCostly(form, bytes);
    }
  };
  return {
    json: readerOf('json'),
    message: readerOf('message'),
    messageJson: readerOf('messageJson'),
    [Symbol.asyncDispose]: () => thread[Symbol.asyncDispose](),
  };
}

function tooManyCostly(): IngestError {
  return new IngestError(
    'ingest_unavailable',
    'Too many batches that take long to read are waiting at this moment. Retry later.',
  );
}
