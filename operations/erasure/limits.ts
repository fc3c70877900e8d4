/** Segments that are listed at a time. Each listing reads the index on terms again from its start. */
export const segmentsListed = 20_000;

/**
 * What one transaction erases: it is an update of so much at most, beside a single larger segment. Writers and readers of other
 * rows do not wait for it.
 */
export const batchSegmentsMax = 50;
export const batchBytesMax = 16 * 1024 * 1024;

/** How often the queue is asked whether the messages of before the start are stored. */
export const queuePollMs = 200;

/** The erasure gives up when the queue has not advanced for this long. */
export const queueStuckMs = 60_000;

/**
 * How long VACUUM FULL of a small table waits for its lock, in which time queries of that table wait behind it, and how often it is
 * tried, also while an older transaction may see what was deleted.
 */
export const vacuumLockTimeoutMs = 200;
export const vacuumLockTries = 40;
export const vacuumLockPauseMs = 200;

/** How long the rewriting of files waits for a pass of retention, which may take hours. The next erasure of the space tries again. */
export const retentionWaitMs = 60_000;
export const retentionPollMs = 200;
