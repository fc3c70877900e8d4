import { messageBytesMax } from '../../platform/queue/limits.ts';
import { storeTimeoutMs } from '../../store/db/connect.ts';

/**
 * Of one pull; bounds the memory. Above the largest message: nats-server never delivers one that is larger
 * than the pull.
 */
export const pullBytesMax = messageBytesMax + 1024 * 1024;

/** Of one pull, however small they are. */
export const pullMessagesMax = 256;

/** For a pull that receives nothing. */
export const pullExpiresMs = 2_000;

/** When the consumer has no leader: it rejects pulls at once. */
export const pullRetryMs = 250;

/** Two pulls without any reply: then the writer connects to another nats-server. */
export const pullSilenceMaxMs = 4_400;

/** For stored messages that are still queued, and how many checks in a row must find the same one. */
export const undeletedLookMs = 2_000;
export const undeletedLooks = 2;

export const eventsPerStatementMax = 1_000;

/**
 * Between two statements on Citus that are not full: one event costs nearly as much as twenty, several times
 * the CPU of plain Postgres. An event is visible within a second of its 202.
 */
export const clusterGatherMs = 250;

/**
 * A batch of stored and new events costs a repeated statement. Retries come in bursts: for this long the
 * ledger is queried first.
 */
export const repeatsExpectedMs = 10_000;

/**
 * Store statements of a space wait some tens of milliseconds for each other. A longer wait is for another
 * transaction, and must not delay other spaces.
 */
export const storeLockTimeoutMs = 2_000;

/**
 * After a lock time-out the space is retried after this time. Doubles with each delivery, up to a maximum,
 * because redeliveries take time from other spaces.
 */
export const lockedSpaceMs = 2_000;
export const lockedDelayMsMax = 15_000;

/** In a row; then a whole table is probably locked, and a statement's other spaces are not tried. */
export const lockedSpacesMax = 2;

/** Before one statement, which may hang, tries a failed node again. Doubles up to `lockedDelayMsMax`. */
export const nodeRetryMs = 2_000;

/** By `/readyz`, for each failed node. */
export const shownSpacesMax = 20;

/** Of segments. */
export const statementBytesMax = 4 * 1024 * 1024;

/** For a worker after a transient failure, and about as long for its messages. */
export const retryDelayMs = 500;

/**
 * For a message that quarantine also refuses: each retry costs a bisection, in vain before an operator acts.
 */
export const retryDelayMsMax = 5 * 60_000;

/** For shards without planner statistics: one short query for each node. */
export const shardStatisticsMs = 60_000;

/** Partitions are created weeks ahead. And the pause after a failure. */
export const partitionCheckMs = 60 * 60_000;
export const partitionRetryMs = 60_000;

/** An event is deleted at most this long after it expires. */
export const retentionPassMs = 5 * 60_000;

/** For copying a million events, or vacuuming a large partition. */
export const retentionTimeoutMs = 10 * 60_000;

/** Without a stored message although some wait: two statements that hang have ended by then. */
export const stuckMs = 2 * storeTimeoutMs;

/** A poll takes a millisecond. */
export const erasurePollMs = 2_000;

/** For traces that another process made unresolved. A poll takes a millisecond. */
export const unresolvedPollMs = 2_000;

/** When something was left undone: another process runs it, or its last attempt failed. */
export const erasureRetryMs = 10_000;

/** Events stored within this time are announced in one message. */
export const storedNoticeMs = 10;

/**
 * Of a stream with a replay window. What arrives meanwhile must fit into the half of its bytes that the
 * window leaves free, so a small stream is polled more often.
 */
export const windowPollMsMax = 1_000;
export const windowPollMsMin = 50;

/** No disk of a queue has been seen to take more: a message is synced before it is acknowledged. */
export const queueBytesPerSecondMax = 200 * 1024 ** 2;

/** Of a stream, for stored messages. The rest is for those that wait. */
export const windowBytesShare = 0.5;

/** Of the limit: how far a purge goes down, so that not every poll purges. */
export const windowPurgeShare = 0.95;

/** A replay after a restore repeats as much at most. */
export const storedPositionMs = 10_000;

/** A restore names the events of a gap with an uncertainty of as much. */
export const storedCountMs = 60_000;

/** Without a publish a stream is then removed, and how often a writer polls for one. */
export const unusedStreamMs = 5 * 60_000;
export const unusedLookMs = 60_000;

export const streamLookMs = 2_000;

/**
 * The longer, the more statements share the work of changing rows, and the more deltas a chart reads: at full
 * load some 10,000.
 */
export const statisticsFoldMs = 2_000;

/** The same on Citus, where a fold takes some 50 ms of CPU for each shard, however few its deltas are. */
export const clusterFoldMs = 10_000;
