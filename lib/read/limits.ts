/** How much is read for one page of a filtered list. With more to examine, the page is incomplete. */
export interface ListLimits {
  /** Events that are examined in the order of time, before the segments are asked that have the filter's values. */
  readonly firstWalkEvents: number;
  /** Events that are examined in the order of time in all: where no term is asked for, or very many segments have the terms. */
  readonly walkedEvents: number;
  /** Events of the segments that have the filter's values. */
  readonly segmentEvents: number;
  /** Events of the segments that the first statement reads: a page is often full after a few. Each further one reads twice as many. */
  readonly firstReadEvents: number;
  /** Most events of the segments that one statement reads. */
  readonly eventsPerRead: number;
  /** Segments that are listed at once, where the space has no more that have the filter's values. */
  readonly segmentsAtOnce: number;
  /** Segments that one statement lists otherwise. */
  readonly segmentsListed: number;
}

/** Measured in ADR 0018: an event is examined in 1 to 2 µs, and a statement takes 0.5 ms. */
export const listLimits: ListLimits = {
  firstWalkEvents: 2_000,
  walkedEvents: 12_000,
  segmentEvents: 12_000,
  firstReadEvents: 2_000,
  eventsPerRead: 5_000,
  segmentsAtOnce: 500,
  segmentsListed: 1_000,
};
