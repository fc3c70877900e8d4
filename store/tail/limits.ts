/** Days for which the writer keeps the rows of `space_commits`: a stream can resume after a long weekend. */
export const commitDays = 7;

/** Rows of a space, about 25 MiB. A stream that is further behind skips anyway (`lagEventsMax`). */
export const commitsPerSpaceMax = 200_000;

/** Listed by one read, and about the most events that it returns. */
export const segmentsPerRead = 500;
export const eventsPerRead = 1_000;

/** Most changes of stored events that one read returns. One changes some events of a trace. */
export const changesPerRead = 200;

/** A stream further behind skips to the newest events. Every commit has an event: this bounds the count. */
export const lagEventsMax = 50_000;

/** Numbers that a restore skips: more than a space has commits, and 8,000 restores stay below 2^53. */
export const skippedNumbers = 2 ** 40;
