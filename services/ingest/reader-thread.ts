import { Tinypool } from 'tinypool';
import { type ErrorId, IngestError } from '../../lib/errors.ts';
import { unlimited } from './read-limits.ts';
import { type BatchForm, compileReaders, type ReadBatch } from './readers.ts';

/** What the thread is asked to do. */
export interface ReadTask {
  form: BatchForm;
  bytes: Uint8Array<ArrayBuffer>;
}

/** An error loses its class on the way between threads. */
export type ReadOutcome =
  | { projection: ReadBatch['projection']; body: Uint8Array<ArrayBuffer> | undefined }
  | { refused: { id: ErrorId; details: string } };

const readers = compileReaders(Tinypool.workerData, unlimited);

/** Reads a batch that is too costly for the event loop. */
export default function readCostly({ form, bytes }: ReadTask): ReadOutcome {
  try {
    const { projection, body } = readers[form](Buffer.from(bytes.buffer));
    return { projection, body: body as Uint8Array<ArrayBuffer> | undefined };
  } catch (thrown) {
    if (!(thrown instanceof IngestError)) throw thrown;
    return { refused: { id: thrown.id, details: thrown.message } };
  }
}
