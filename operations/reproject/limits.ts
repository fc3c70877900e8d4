/** Segments that are listed at a time, along the primary key. */
export const segmentsListed = 1_000;

/** What one transaction computes again, beside a single larger segment. */
export const batchSegmentsMax = 20;
export const batchBytesMax = 8 * 1024 * 1024;
