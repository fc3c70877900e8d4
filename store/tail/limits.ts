/** Days for which the writer keeps the rows of `space_commits`: a stream can resume after a long weekend. */
export const commitDays = 7;

/**
 * Most rows that it keeps for a space, about 25 MiB. A stream that is further behind skips anyway
 * (`lagEventsMax`).
 */
export const commitsPerSpaceMax = 200_000;

/** Most segments that one read lists, and about the most events that it returns. */
export const segmentsPerRead = 500;
export const eventsPerRead = 1_000;

/** Most changes of stored events that one read returns. One changes some events of a trace. */
export const changesPerRead = 200;

/**
 * A live stream that is further behind skips to the newest events. Every commit has an event, so this also
 * bounds the count.
 */
export const lagEventsMax = 50_000;

/**
 * Commit numbers that a restore skips: more than a space has commits, and few enough for 8,000 restores below
 * 2^53.
 */
export const skippedNumbers = 2 ** 40;
