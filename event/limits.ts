/** Longest text in a column, in UTF-16 code units, 768 bytes: a Postgres B-tree rejects over 2,704. */
export const columnCharsMax = 256;

/** Length of the previews of input and output in the list of events, in UTF-16 code units. */
export const previewCharsMax = 64;

/** Longest JSON of additionalProperties in a column; entries beyond it are in the segment only. */
export const attributesCharsMax = 4 * 1024;

/**
 * Most terms of a segment (terms.ts). 500 events with a dozen values each have 6,000; a body of 4 MiB can
 * have 400,000, whose index entries would take the writer seconds.
 */
export const segmentTermsMax = 10_000;

/** Texts whose hashes are kept for terms, and the longest of them: at most 3 MB. */
export const recentTermsMax = 8_192;
export const recentTermTextCharsMax = 128;

/** Spans of the statistics' roll-ups, besides minutes. A day of any time zone consists of few such spans. */
export const rollupSpansHours = [1, 6] as const;

/** Numbers of events are clamped to ± this, since sums of any finite numbers must stay finite. */
export const addedNumberMax = 1e15;
