import type { Projection } from '../../../event/projection.ts';

/** The encoding of a batch: JSON of the HTTP API, or an RPC's protobuf or protobuf JSON. */
export type BatchEncoding = 'json' | 'protobuf' | 'protobufJson';

/** A valid batch. */
export interface ReadBatch {
  readonly projection: Projection;
  /** A request body of the JSON API with these events only. Absent when the input is that body. */
  readonly body?: Buffer;
}

/**
 * Parses, validates and projects the bytes of a batch.
 * @throws IngestError `invalid_request_body`, `invalid_event_batch`, `too_many_events`.
 * @throws CostlyBatchError when reading would exceed the reader's limits.
 */
export type BatchReader = (bytes: Buffer) => ReadBatch;

/** How much work a reader does before it throws CostlyBatchError. */
export interface ReadLimits {
  /** Most values in one batch, nested ones included. */
  readonly valuesMax: number;
  /** Largest invalid batch, in bytes. An invalid batch is parsed a second time to describe the error. */
  readonly badBytesMax: number;
  /** Largest request of spans or log records, in bytes, and most of them in it. */
  readonly bytesMax: number;
  readonly recordsMax: number;
}

export const unlimited: ReadLimits = {
  valuesMax: Number.POSITIVE_INFINITY,
  badBytesMax: Number.POSITIVE_INFINITY,
  bytesMax: Number.POSITIVE_INFINITY,
  recordsMax: Number.POSITIVE_INFINITY,
};

/** Reading the batch would exceed the reader's limits. The batch may be valid or not. */
export class CostlyBatchError extends Error {
  override name = 'CostlyBatchError';
}
