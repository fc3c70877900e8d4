/** Spans of the rows, in minutes: short ones for a history of days, long ones for a range of months. */
export const delaySpansMinutes = { short: 5, long: 60 } as const;

/**
 * Days for which rows of each span are kept: an active space has at most 2,304 rows of five minutes and 9,600
 * of an hour.
 */
export const delayDays = { short: 8, long: 400 } as const;

/**
 * Most commits of a space that one statement counts: some seconds of work with many spaces. The first
 * statement after an upgrade skips older ones, which have no delays.
 */
export const commitsPerFoldMax = 10_000;

/** Interval at which a writer counts new commits, in milliseconds: pages are behind by at most this long. */
export const foldIntervalMs = 10_000;
