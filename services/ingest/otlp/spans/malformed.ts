import { IngestError } from '../../../../event/errors.ts';
import { CostlyBatchError } from '../../read/batch-reader.ts';
import { UnstorableError } from './span.ts';

/** Turns the errors of reading protobuf, which have many classes, into `invalid_request_body`. */
export function explainMalformed<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    const isExplained =
      error instanceof IngestError || error instanceof CostlyBatchError || error instanceof UnstorableError;
    if (isExplained) throw error;
    throw new IngestError('invalid_request_body', 'The request is not valid protobuf.', { cause: error });
  }
}
