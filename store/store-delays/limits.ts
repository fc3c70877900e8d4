/** Spans of the rows, in minutes: short ones for a history of days, long ones for a range of months. */
export const delaySpansMinutes = { short: 5, long: 60 } as const;

/** Days of each span's rows: at most 2,304 rows of five minutes and 9,600 of an hour for a space. */
export const delayDays = { short: 8, long: 400 } as const;

/** Commits of a space in one statement. After an upgrade older ones, which have no delays, are skipped. */
export const commitsPerFoldMax = 10_000;

/** Pages are behind by at most this long. */
export const foldIntervalMs = 10_000;
