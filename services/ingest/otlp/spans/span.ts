import type { SentNote } from '../../../../store/notes/evaluation-notes.ts';
import type { Attributes } from './attributes.ts';

/** A span as it was sent, in protobuf or in JSON. Enums are the numbers of the protocol. */
export interface Span {
  /** Lower-case hexadecimal, like all ids here; empty when it was not sent. */
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly traceState: string;
  readonly flags: number;
  readonly name: string;
  readonly kind: number;
  /** Nanoseconds since the epoch; an end of 0 means unset. */
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly attributes: Attributes;
  /** @throws UnstorableError when there are too many. */
  readEvents(): readonly SpanEvent[];
  readLinks(): readonly SpanLink[];
  readonly status: { readonly code: number; readonly message: string };
  readonly droppedAttributes: number;
  readonly droppedEvents: number;
  readonly droppedLinks: number;
}

export interface SpanEvent {
  readonly name: string;
  readonly timeNs: bigint;
  readonly attributes: Attributes;
  readonly droppedAttributes: number;
}

export interface SpanLink {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceState: string;
  readonly flags: number;
  readonly attributes: Attributes;
  readonly droppedAttributes: number;
}

/** The source of spans: the process, and the library in it. */
export interface SpanSource {
  readonly resource: Described;
  readonly scope: Described & { readonly name: string; readonly version: string };
}

interface Described {
  readonly attributes: Attributes;
  readonly schemaUrl: string;
  readonly droppedAttributes: number;
}

/** The records of a request, which can be read one by one and more than once. */
export interface RecordRequest<T> {
  readonly count: number;
  /** The size of a record in the request, in bytes. */
  bytesOf(index: number): number;
  /**
   * @throws IngestError `invalid_request_body`
   * @throws UnstorableError when this record alone cannot be read.
   * @throws CostlyBatchError when the request exceeds the reader's limits; without limits, when this record
   * alone has too many values.
   */
  read(index: number): T;
  /** The source of the record: the same object for all of one library. */
  readSource(index: number): SpanSource;
}

/** The spans of a request. */
export interface SpanRequest extends RecordRequest<Span> {
  /** The results of evaluations among log records. */
  readonly evaluations?: readonly SentNote[];
}

/** The fields of a span that log records do not have. */
export const unsentFields = {
  traceState: '',
  flags: 0,
  kind: 0,
  readEvents: () => [],
  readLinks: () => [],
  status: { code: 0, message: '' },
  droppedAttributes: 0,
  droppedEvents: 0,
  droppedLinks: 0,
} satisfies Partial<Span>;

/** A span can never become an event. The message gives the reason, and is public. */
export class UnstorableError extends Error {
  override name = 'UnstorableError';
}
