import type { Projection } from '../../../../event/projection.ts';
import type { SenderCounts } from '../../../../store/senders.ts';
import type { FilterReason } from '../mapping/role.ts';

/** The events of one request of spans. */
export interface SpanBatch {
  readonly parts: readonly EventPart[];
  /** The spans as nodes of their traces: JSON arrays for weir.queue.v1.TraceNodes. */
  readonly nodes: readonly string[];
  /** The results of evaluations: JSON arrays for it, too. */
  readonly notes: readonly string[];
  readonly counts: SpanCounts;
  readonly senders: readonly SenderCounts[];
  /** Why the first of the rejected spans cannot be stored; undefined when none was rejected. */
  readonly rejection: string | undefined;
}

/** Up to 500 events and 4 MiB: the limits of one request of the JSON API. */
export interface EventPart {
  readonly projection: Projection;
  /** The request body of the JSON API with the same events. Its memory is not shared. */
  readonly body: Buffer;
}

/** Numbers of stored, rejected and filtered spans. */
export interface SpanCounts {
  stored: number;
  rejected: number;
  filtered: Partial<Record<FilterReason, number>>;
}
