/** The writer keeps the rows of `space_commits` for so many days: a stream resumes after a long weekend. */
export const commitDays = 7;

/** It keeps at most so many for a space, some 25 MiB. A reader that is further behind skips anyway (`lagEventsMax`). */
export const commitsPerSpaceMax = 200_000;

/** Segments that one read lists, and the events after which it takes no more of them. */
export const segmentsPerRead = 500;
export const eventsPerRead = 1_000;

/** A live stream that is further behind skips to the newest events. Every commit has an event, so this bounds what is counted, too. */
export const lagEventsMax = 50_000;
