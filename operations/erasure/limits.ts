/** Every listing scans the term index from the start. */
export const segmentsListed = 20_000;

/** Segments of a transaction, except for a larger segment: bounds how long rows stay locked. */
export const batchSegmentsMax = 50;
export const batchBytesMax = 16 * 1024 * 1024;

export const queuePollMs = 200;

/** The erasure gives up when the queue has made no progress for this long. */
export const queueStuckMs = 60_000;

/** Wait of each try of VACUUM FULL of a small table: queries of the table queue behind the lock meanwhile. */
export const vacuumLockTimeoutMs = 200;

/** Largest table that VACUUM FULL copies, in some ten seconds. */
export const rewrittenBytesMax = 2 * 1024 ** 3;

/**
 * How long all copies of one erasure wait, together, for transactions that write and began before. Those of
 * another program or database can take longer: then the receipt names the tables for the next erasure.
 */
export const writersWaitMs = 60_000;

/** A pass of retention may take hours: the next erasure of the space rewrites the files. */
export const retentionWaitMs = 60_000;
export const retentionPollMs = 200;

export const nodesPerBatch = 1_000;

/** Wait for a cluster's node that is away: a restart, or the promotion of its standby. */
export const nodesWaitMs = 600_000;
export const nodesPollMs = 1_000;

/** Wait for a transaction in doubt: longer than the minute in which Citus recovers it by itself. */
export const inDoubtWaitMs = 150_000;
export const inDoubtPollMs = 200;
