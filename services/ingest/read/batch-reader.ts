import type { Projection } from '../../../lib/event/projection.ts';

/** How a batch is encoded: the JSON of the HTTP API, the RPC's request in protobuf, or the same in protobuf's JSON. */
export type BatchEncoding = 'json' | 'protobuf' | 'protobufJson';

/** A batch that was parsed and found valid. */
export interface ReadBatch {
  readonly projection: Projection;
  /** The request body of the JSON API that holds these events and nothing else. Absent where it is the input itself. */
  readonly body?: Buffer;
}

/**
 * Parses, validates and projects the bytes of a batch.
 *
 * @throws IngestError `invalid_request_body`, `invalid_event_batch`, `too_many_events`.
 * @throws CostlyBatchError when reading would exceed the reader's limits.
 */
export type BatchReader = (bytes: Buffer) => ReadBatch;

/** How much work a reader does before it throws CostlyBatchError. */
export interface ReadLimits {
  /** Most values in one batch, nested ones included. */
  readonly valuesMax: number;
  /** Largest invalid batch, in bytes: it is parsed a second time to find out what is wrong. */
  readonly badBytesMax: number;
}

export const unlimited: ReadLimits = {
  valuesMax: Number.POSITIVE_INFINITY,
  badBytesMax: Number.POSITIVE_INFINITY,
};

/** Reading the batch would exceed the reader's limits. The batch may be valid or not. */
export class CostlyBatchError extends Error {
  override name = 'CostlyBatchError';
}
