import type { Projection } from '../../../../lib/event/projection.ts';
import type { FilterReason } from '../mapping/role.ts';

/** What a request of spans becomes. */
export interface SpanBatch {
  readonly parts: readonly EventPart[];
  readonly counts: SpanCounts;
  /** Why the first of the rejected spans cannot be stored; undefined when none was rejected. */
  readonly rejection: string | undefined;
}

/** Up to 500 events and 4 MiB: what one request of the JSON API may bring. */
export interface EventPart {
  readonly projection: Projection;
  /** The JSON body that would have brought the same events, made for nobody else. */
  readonly body: Buffer;
}

/** What became of the spans of a request. */
export interface SpanCounts {
  stored: number;
  rejected: number;
  filtered: Partial<Record<FilterReason, number>>;
}
