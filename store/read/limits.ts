/** How much may be read for one page of a filtered list. Beyond these limits the page is incomplete. */
export interface ListLimits {
  /** Events examined in time order before the search by segment begins. */
  readonly firstWalkEvents: number;
  /** Events examined in time order, without a term in the filter, or far behind the newest segments. */
  readonly walkedEvents: number;
  /**
   * Segments examined in time order, when more than `segmentsAtOnce` have the filter's terms. More than
   * `firstWalkEvents`, since each event may have a segment of its own. When all of them are newer than the
   * page begins, segments are listed by their terms.
   */
  readonly firstWalkSegments: number;
  /** Segments, and events, examined further where terms are frequent: listing all would take longer. */
  readonly walkedSegments: number;
  readonly walkedSegmentEvents: number;
  /** Events read from segments that have the filter's terms. */
  readonly segmentEvents: number;
  /** Events of the first read, small because a page is often full after a few; each next read doubles. */
  readonly firstReadEvents: number;
  readonly eventsPerRead: number;
  /** Segments listed at once, when the space has no more with the filter's terms. */
  readonly segmentsAtOnce: number;
  /** Segments per listing otherwise. */
  readonly segmentsListed: number;
  /**
   * Events found in time order after which a page ends, incomplete, where all segments with the terms would
   * be listed otherwise: a frequent value has millions. Infinity: they are listed.
   */
  readonly enoughRows: number;
}

/**
 * Measured: examining an event or a segment takes 1 to 2 µs, listing one by its terms 2 to 4 µs, a statement
 * 0.5 ms.
 */
export const listLimits: ListLimits = {
  firstWalkEvents: 2_000,
  walkedEvents: 12_000,
  firstWalkSegments: 3_000,
  walkedSegments: 25_000,
  walkedSegmentEvents: 500_000,
  segmentEvents: 12_000,
  firstReadEvents: 2_000,
  eventsPerRead: 5_000,
  segmentsAtOnce: 500,
  segmentsListed: 1_000,
  enoughRows: Number.POSITIVE_INFINITY,
};

/** For thousands of a filter's newest events: 20,000 events are examined in 25 to 35 ms. */
export const newestLimits: ListLimits = { ...listLimits, walkedEvents: 20_000, enoughRows: 100 };
