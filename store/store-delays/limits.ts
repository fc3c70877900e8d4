/** Short rows for a history of days, long ones for a range of months. */
export const delaySpansMinutes = { short: 5, long: 60 } as const;

/** Of each span: at most 2,304 rows of five minutes and 9,600 of an hour for a space. */
export const delayDays = { short: 8, long: 400 } as const;

/**
 * Of a space, in one statement: some seconds with many spaces. After an upgrade older ones, which have no
 * delays, are skipped.
 */
export const commitsPerFoldMax = 10_000;

/** Pages are behind by at most this long. */
export const foldIntervalMs = 10_000;
