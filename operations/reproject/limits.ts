/** Segments per listing, in primary key order. */
export const segmentsListed = 1_000;

/** Most segments and raw bytes that one transaction recomputes; a single larger segment is allowed. */
export const batchSegmentsMax = 20;
export const batchBytesMax = 8 * 1024 * 1024;
