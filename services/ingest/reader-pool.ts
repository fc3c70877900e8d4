import { Tinypool } from 'tinypool';
import { IngestError } from '../../lib/errors.ts';
import { openGate } from '../../lib/gate.ts';
import { costlyBatchesMax, readerHeap, readOnLoop } from '../../lib/limits.ts';
import { CostlyBatchError } from './read-limits.ts';
import type { ReadOutcome, ReadTask } from './reader-thread.ts';
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
  const thread = new Tinypool({
    filename: new URL('reader-thread.ts', import.meta.url).href,
    workerData: vendor,
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
      return await inTurn(() => readOnThread(thread, form, bytes));
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

async function readOnThread(thread: Tinypool, form: BatchForm, bytes: Buffer): Promise<ReadBatch> {
  // A copy, for it changes hands: `bytes` may lie in a buffer that is used again. Made in its turn, it is the only one.
  const copy = new Uint8Array(bytes);
  const task: ReadTask = { form, bytes: copy };
  const outcome: ReadOutcome = await thread.run(task, { transferList: { transfer: [copy.buffer] } });
  if ('refused' in outcome) throw new IngestError(outcome.refused.id, outcome.refused.details);
  const { projection, body } = outcome;
  return body === undefined ? { projection } : { projection, body: Buffer.from(body.buffer) };
}
