import type { Projection } from '../../lib/event/projection.ts';
import { compileBatchRules } from '../../lib/event/validate.ts';
import { createBatchReader } from './read-batch.ts';
import type { ReadLimits } from './read-limits.ts';
import { compileJsonBatchReader, compileMessageBatchReader } from './rpc/read-batch.ts';

/** A batch that was parsed and found valid, as it goes on. */
export interface ReadBatch {
  readonly projection: Projection;
  /** The JSON body that would have brought the same events, made for nobody else. Absent: the bytes are it. */
  readonly body?: Buffer;
}

/**
 * Parses, validates and projects the bytes of a batch.
 *
 * @throws IngestError `invalid_request_body`, `invalid_event_batch`, `too_many_events`.
 * @throws CostlyBatchError when it would take more than the reader's limits.
 */
export type BatchReader = (bytes: Buffer) => ReadBatch;

/** The forms a batch comes in: the JSON of the API; a message of the RPC; the same in protobuf's JSON. */
export type BatchForm = 'json' | 'message' | 'messageJson';

export function compileReaders(vendor: string, limits: ReadLimits): Record<BatchForm, BatchReader> {
  const rules = compileBatchRules(vendor);
  return {
    json: createBatchReader(rules, limits),
    message: compileMessageBatchReader(rules, limits),
    messageJson: compileJsonBatchReader(rules, limits),
  };
}
