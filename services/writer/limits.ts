import { messageBytesMax } from '../../platform/queue/limits.ts';
import { storeTimeoutMs } from '../../store/db/connect.ts';

/** Most bytes of a pull, above the largest message: nats-server never delivers one larger than the pull. */
export const pullBytesMax = messageBytesMax + 1024 * 1024;

/** Most messages that one pull requests, however small they are. */
export const pullMessagesMax = 256;

/** A pull that receives nothing expires after this time, and the next one starts. */
export const pullExpiresMs = 2_000;

/** Pause before the next pull when the consumer has no leader: it rejects pulls at once. */
export const pullRetryMs = 250;

/** After two pulls without any reply from the consumer, the writer connects to another nats-server. */
export const pullSilenceMaxMs = 4_400;

/** Poll interval for stored messages that are still queued, and how many polls in a row must find one. */
export const undeletedPollMs = 2_000;
export const undeletedPolls = 2;

export const eventsPerStatementMax = 1_000;

/**
 * Least time between two statements on Citus that are not full: one event costs nearly as much as twenty,
 * several times the CPU of plain Postgres. An event is visible within a second of its 202.
 */
export const clusterGatherMs = 250;

/** A batch of stored and new events costs a repeated statement: the ledger is queried first for this long. */
export const repeatsExpectedMs = 10_000;

/**
 * Wait for a space's rows, above the tens of milliseconds of other store statements: others must not wait.
 */
export const storeLockTimeoutMs = 2_000;

/** First delay of a locked space; doubles with each delivery, since redeliveries take time from others. */
export const lockedSpaceMs = 2_000;
export const lockedDelayMsMax = 15_000;

/** Locked spaces in a row after which a whole table is probably locked, and no other space is tried. */
export const lockedSpacesMax = 2;

/** Pause before one statement, which may hang, tries a failed node. Doubles up to `lockedDelayMsMax`. */
export const nodeRetryMs = 2_000;

/** Spaces that `/readyz` names for each failed node. */
export const shownSpacesMax = 20;

/** Most bytes of segments in one store statement. */
export const statementBytesMax = 4 * 1024 * 1024;

/** Pause of a worker after a transient failure, and about as long for its messages. */
export const retryDelayMs = 500;

/** Longest delay of a message that quarantine also refuses: each retry costs a bisection, in vain. */
export const retryDelayMsMax = 5 * 60_000;

/** Poll interval for shards without planner statistics: one short query for each node. */
export const shardStatisticsMs = 60_000;

/** Partitions are created weeks ahead. And the pause after a failure. */
export const partitionCheckMs = 60 * 60_000;
export const partitionRetryMs = 60_000;

/** An event is deleted at most this long after it expires. */
export const retentionPassMs = 5 * 60_000;

/** Time-out of a retention statement: copying a million events, or vacuuming a large partition. */
export const retentionTimeoutMs = 10 * 60_000;

/** A writer that stores nothing for so long is stuck: two statements that hang have ended by then. */
export const stuckMs = 2 * storeTimeoutMs;

/** A poll takes a millisecond. */
export const erasurePollMs = 2_000;

/** Poll interval for traces that another process made unresolved. A poll takes a millisecond. */
export const unresolvedPollMs = 2_000;

/** Pause when an erasure was left undone: another process runs it, or its last attempt failed. */
export const erasureRetryMs = 10_000;

/** Events stored within this time are announced to the dashboards in one message. */
export const storedNoticeMs = 10;

/**
 * Poll interval of a replay window. What arrives meanwhile must fit into the half of the stream's bytes that
 * the window leaves free, so a small stream is polled more often.
 */
export const windowPollMsMax = 1_000;
export const windowPollMsMin = 50;

/** No disk of a queue has been seen to take more: a message is synced before it is acknowledged. */
export const queueBytesPerSecondMax = 200 * 1024 ** 2;

/** The share of a stream's bytes that stored messages may take. The rest is for those that wait. */
export const windowBytesShare = 0.5;

/** A purge for room goes down to this share of the limit, so that not every poll purges. */
export const windowPurgeShare = 0.95;

/** A replay after a restore repeats as much at most. */
export const storedPositionMs = 10_000;

/** A restore names the events of a gap with an uncertainty of as much. */
export const storedCountMs = 60_000;

/** A stream without a publish for so long is removed, and how often a writer polls for one. */
export const unusedStreamMs = 5 * 60_000;
export const unusedPollMs = 60_000;

export const streamPollMs = 2_000;

/** Pause between folds: a longer one shares work, and leaves charts more deltas, some 10,000 at full load. */
export const statisticsFoldMs = 2_000;

/** Pause on Citus, where a fold takes some 50 ms of CPU for each shard, however few its deltas are. */
export const clusterFoldMs = 10_000;
