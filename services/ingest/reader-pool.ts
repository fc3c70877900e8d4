import { Tinypool } from 'tinypool';
import { IngestError } from '../../lib/errors.ts';
import { openGate } from '../../lib/gate.ts';
import { bodyBytesMax, costlyBatchesMax, readerHeap, readOnLoop } from '../../lib/limits.ts';
import { CostlyBatchError } from './read-limits.ts';
import type { ReadOutcome, ReadTask, ThreadData } from './reader-thread.ts';
import { type BatchForm, compileReaders, type ReadBatch } from './readers.ts';

/** Reads a batch of each form, as BatchReader does, and however much work it is. */
export type Readers = Record<BatchForm, (bytes: Buffer) => ReadBatch | Promise<ReadBatch>>;

/**
 * Readers that hold up nobody else. A batch is read on the event loop, where it is fastest; one that would keep the loop
 * from other requests for long, as a body of 4 MiB with a million empty lists does, is read on a thread of its own, one at
 * a time. The thread waits for it from the beginning: to start one takes a quarter of a second of a core (ADR 13).
 *
 * They throw what BatchReader throws, CostlyBatchError aside, and IngestError `ingest_unavailable` when too many costly
 * batches wait already.
 */
export function openReaders(vendor: string): Readers & AsyncDisposable {
  const onLoop = compileReaders(vendor, readOnLoop);
  const shared = Buffer.from(new SharedArrayBuffer(bodyBytesMax));
  const data: ThreadData = { vendor, shared: shared.buffer };
  const thread = new Tinypool({
    filename: new URL('reader-thread.ts', import.meta.url).href,
    workerData: data,
    minThreads: 1,
    maxThreads: 1,
    resourceLimits: readerHeap,
  });
  const inTurn = openGate(1);
  let costlyBatches = 0;
  const readCostly = async (form: BatchForm, bytes: Buffer) => {
    if (costlyBatches === costlyBatchesMax) throw tooManyCostly();
    costlyBatches += 1;
    try {
      return await inTurn(async () => {
        // Memory that both threads see: 4 MiB more each time would be what starts V8's collections (ADR 0008).
        const task: ReadTask = { form, length: bytes.copy(shared) };
        return toBatch(await thread.run(task));
      });
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
    [Symbol.asyncDispose]: () => thread.destroy(),
  };
}

function tooManyCostly(): IngestError {
  return new IngestError(
    'ingest_unavailable',
    'Too many batches that take long to read are waiting at this moment. Retry later.',
  );
}

function toBatch(outcome: ReadOutcome): ReadBatch {
  if ('refused' in outcome) throw new IngestError(outcome.refused.id, outcome.refused.details);
  const { projection, body } = outcome;
  return body === undefined ? { projection } : { projection, body: Buffer.from(body.buffer) };
}
