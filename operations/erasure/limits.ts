/** Segments per listing. Every listing scans the term index from the start. */
export const segmentsListed = 20_000;

/**
 * What one transaction erases at most, unless a single segment is larger. It bounds how long rows stay
 * locked; writers and readers of other rows do not wait.
 */
export const batchSegmentsMax = 50;
export const batchBytesMax = 16 * 1024 * 1024;

/** How often to check whether the messages queued before the start are stored. */
export const queuePollMs = 200;

/** The erasure gives up when the queue has made no progress for this long. */
export const queueStuckMs = 60_000;

/**
 * How long VACUUM FULL of a small table waits for its lock in each try: queries of the table queue behind it
 * meanwhile.
 */
export const vacuumLockTimeoutMs = 200;

/**
 * How long the copies of one erasure wait, together, for transactions that write and began before. Those of
 * another program or database can take longer: then the receipt names the tables, and the next erasure of the
 * space tries again.
 */
export const writersWaitMs = 60_000;

/**
 * How long to wait for a pass of retention, which may take hours, before files are rewritten. The next
 * erasure of the space tries again.
 */
export const retentionWaitMs = 60_000;
export const retentionPollMs = 200;

/** Spans of traces that one transaction clears. */
export const nodesPerBatch = 1_000;

/**
 * How long an erasure waits for a node of a cluster that is away: a restart or the promotion of its standby.
 */
export const nodesWaitMs = 600_000;
export const nodesPollMs = 1_000;

/**
 * How long an erasure waits for transactions in doubt on a node of a cluster: longer than Citus takes to
 * recover one by itself, a minute.
 */
export const inDoubtWaitMs = 150_000;
export const inDoubtPollMs = 200;
