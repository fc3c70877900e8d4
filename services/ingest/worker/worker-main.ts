import { parentPort, workerData } from 'node:worker_threads';
import { type ErrorId, IngestError } from '../../../event/errors.ts';
import { CostlyBatchError, type ReadLimits } from '../read/batch-reader.ts';
import { createReaders, type Encoding, type ReadResults } from './encodings.ts';

/** Entry point of WorkerReader's thread: reads the request of each task and posts the outcome. */

/** The thread's `workerData`. The bytes of the current request are in `shared`. */
export interface WorkerOptions {
  vendor: string;
  limits: ReadLimits;
  shared: SharedArrayBuffer;
}

/** A request to read: the first `length` bytes of `shared`. */
export interface ReadTask {
  encoding: Encoding;
  length: number;
}

/** The result, or the error as data: structured cloning loses an error's class. */
export type ReadOutcome =
  | { result: ReadResults[Encoding] }
  | { error: { id: ErrorId; details: string } | 'costly' };

const { vendor, limits, shared } = workerData as WorkerOptions;
const readers = createReaders(vendor, limits);

parentPort?.on('message', (task: ReadTask) => {
  const outcome = readTask(task);
  parentPort?.postMessage(outcome, 'result' in outcome ? buffersOf(outcome.result) : []);
});

function readTask({ encoding, length }: ReadTask): ReadOutcome {
  try {
    return { result: readers[encoding](Buffer.from(shared, 0, length)) };
  } catch (thrown) {
    if (thrown instanceof CostlyBatchError) return { error: 'costly' };
    if (!(thrown instanceof IngestError)) throw thrown;
    return { error: { id: thrown.id, details: thrown.message } };
  }
}

/** The buffers of the result, which are transferred instead of copied. */
function buffersOf(result: ReadResults[Encoding]): ArrayBuffer[] {
  const batches = 'parts' in result ? result.parts : [result];
  return batches.flatMap(({ body }) => (body?.buffer instanceof ArrayBuffer ? [body.buffer] : []));
}
