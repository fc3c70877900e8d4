import type { Attributes } from './attributes.ts';

/** A span as it was sent, in protobuf or in JSON. Numbers of enums are the protocol's. */
export interface Span {
  /** In lower-case hexadecimal, as the other ids; empty when it is not sent. */
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly traceState: string;
  readonly flags: number;
  readonly name: string;
  readonly kind: number;
  /** Nanoseconds since the epoch; an end of 0 is none. */
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

/** What spans come from: the process, and the library in it. */
export interface SpanSource {
  readonly resource: Described;
  readonly scope: Described & { readonly name: string; readonly version: string };
}

interface Described {
  readonly attributes: Attributes;
  readonly schemaUrl: string;
  readonly droppedAttributes: number;
}

/** A request that is taken apart: its spans can be read one by one, and more than once. */
export interface SpanRequest {
  readonly count: number;
  /** How many bytes of the request a span takes. */
  bytesOf(index: number): number;
  /**
   * @throws IngestError `invalid_request_body`
   * @throws UnstorableError when this span alone cannot be read.
   * @throws CostlyBatchError when the request takes more than the reader's limits; without limits, when this span alone
   *   has too many values.
   */
  readSpan(index: number): Span;
  /** What the span comes from: the same object for all spans of one library. Its errors are those of readSpan. */
  readSource(index: number): SpanSource;
}

/** One span cannot become an event, now or later. The message says why, and is public. */
export class UnstorableError extends Error {
  override name = 'UnstorableError';
}
