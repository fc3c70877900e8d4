/** Every listing scans the term index from the start. */
export const segmentsListed = 20_000;

/** For one transaction, except for a larger segment: bounds how long rows stay locked. */
export const batchSegmentsMax = 50;
export const batchBytesMax = 16 * 1024 * 1024;

export const queuePollMs = 200;

/** Without progress of the queue. */
export const queueStuckMs = 60_000;

/** For each try of VACUUM FULL of a small table: queries of the table queue behind the lock meanwhile. */
export const vacuumLockTimeoutMs = 200;

/**
 * How long all copies of one erasure wait, together, for transactions that write and began before. Those of
 * another program or database can take longer: then the receipt names the tables for the next erasure.
 */
export const writersWaitMs = 60_000;

/** A pass of retention may take hours: the next erasure of the space rewrites the files. */
export const retentionWaitMs = 60_000;
export const retentionPollMs = 200;

export const nodesPerBatch = 1_000;

/** For a restart of a cluster's node, or the promotion of its standby. */
export const nodesWaitMs = 600_000;
export const nodesPollMs = 1_000;

/** Longer than the minute that Citus takes to recover a transaction in doubt by itself. */
export const inDoubtWaitMs = 150_000;
export const inDoubtPollMs = 200;
