/**
 * A segment that is stored so long after its receipt is recorded separately by the writer (`segment_additions`). A tail looks for
 * new segments among those that were received since then and a day more, so that it never reads the index of an old partition.
 */
export const lateSegmentDays = 7;
export const tailSegmentDays = lateSegmentDays + 1;

/** A tail resumes where it was up to `lateSegmentDays` ago. Those separate records are deleted a day later. */
export const additionDays = lateSegmentDays + 1;

/** Segments that one read of a tail lists, and the events after which it lists no more. */
export const entriesPerRead = 500;
export const eventsPerRead = 1_000;

/** A tail that is further behind skips to the newest events. */
export const lagEventsMax = 50_000;

/** Segments that are read to tell how far a tail is behind. With more of them it is too far, and the number is a lower bound. */
export const lagSegmentsMax = 50_000;
