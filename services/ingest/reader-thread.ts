import { parentPort, workerData } from 'node:worker_threads';
import { type ErrorId, IngestError } from '../../lib/errors.ts';
import { unlimited } from './read-limits.ts';
import { type BatchForm, compileReaders, type ReadBatch } from './readers.ts';

/** The thread that reads what is too costly for the event loop. It answers each task with its outcome. */

/** What the thread starts with. The bytes of a batch lie in `shared` while it is read. */
export interface ThreadData {
  vendor: string;
  shared: SharedArrayBuffer;
}

/** What it is asked to do. */
export interface ReadTask {
  form: BatchForm;
  length: number;
}

/** An error loses its class on the way between threads. */
export type ReadOutcome =
  | { projection: ReadBatch['projection']; body: Uint8Array<ArrayBuffer> | undefined }
  | { refused: { id: ErrorId; details: string } };

const { vendor, shared } = workerData as ThreadData;
const readers = compileReaders(vendor, unlimited);

parentPort?.on('message', (task: ReadTask) => parentPort?.postMessage(readCostly(task)));

function readCostly({ form, length }: ReadTask): ReadOutcome {
  try {
    const { projection, body } = readers[form](Buffer.from(shared, 0, length));
    return { projection, body: body as Uint8Array<ArrayBuffer> | undefined };
  } catch (thrown) {
    if (!(thrown instanceof IngestError)) throw thrown;
    return { refused: { id: thrown.id, details: thrown.message } };
  }
}
