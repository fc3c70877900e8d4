import { messageBytesMax } from '../../platform/queue/limits.ts';
import { storeTimeoutMs } from '../../store/db/connect.ts';

/**
 * Most bytes that one pull requests; it bounds the writer's memory. It must exceed the largest message,
 * because nats-server never delivers a message that is larger than the pull.
 */
export const pullBytesMax = messageBytesMax + 1024 * 1024;

/** Most messages that one pull requests, however small they are. */
export const pullMessagesMax = 256;

/** A pull that receives nothing expires after this time, and the next one starts. */
export const pullExpiresMs = 2_000;

/** Pause before the next pull when the consumer has no leader: it rejects pulls at once. */
export const pullRetryMs = 250;

/** After two pulls without any reply from the consumer, the writer connects to another nats-server. */
export const pullSilenceMaxMs = 4_400;

/**
 * Interval of the check for stored messages that are still queued, and how many checks in a row must find the
 * same message.
 */
export const undeletedLookMs = 2_000;
export const undeletedLooks = 2;

/** Most events in one store statement. */
export const eventsPerStatementMax = 1_000;

/**
 * Least time between two statements on Citus that are not full. There a statement costs several times the CPU
 * of one on plain Postgres, nearly as much for one event as for twenty. With a store and a notice, an event
 * is visible well within a second of its 202.
 */
export const clusterGatherMs = 250;

/**
 * A batch that mixes stored and new events costs a repeated statement. After one the writer queries the
 * ledger first, for this long: such batches come in bursts, when clients retry.
 */
export const repeatsExpectedMs = 10_000;

/**
 * Lock time-out of a store statement. Store statements of one space wait for each other for some tens of
 * milliseconds. A longer wait means that another transaction holds the space's rows; it must not delay other
 * spaces in the same statement.
 */
export const storeLockTimeoutMs = 2_000;

/**
 * After a lock time-out the space is retried after this time, and its messages are redelivered with this
 * delay. The delay doubles with each delivery, up to a maximum, because redeliveries take time from other
 * spaces.
 */
export const lockedSpaceMs = 2_000;
export const lockedDelayMsMax = 15_000;

/**
 * After this many locked spaces in a row the other spaces of a statement are not tried: probably a whole
 * table is locked.
 */
export const lockedSpacesMax = 2;

/**
 * Pause before a failed node of the database is tried again, by one statement, which may hang until its
 * time-out. It doubles up to `lockedDelayMsMax`.
 */
export const nodeRetryMs = 2_000;

/** Spaces that `/readyz` names for each failed node. */
export const shownSpacesMax = 20;

/** Most bytes of segments in one store statement. */
export const statementBytesMax = 4 * 1024 * 1024;

/**
 * After a transient failure a worker pauses for this time, and its messages are redelivered after about as
 * long.
 */
export const retryDelayMs = 500;

/**
 * Longest delay before the retry of a message that quarantine also refuses. Each retry costs a bisection, and
 * cannot succeed before an operator acts.
 */
export const retryDelayMsMax = 5 * 60_000;

/**
 * Interval at which a writer of a cluster looks for shards without planner statistics: one short query for
 * each node.
 */
export const shardStatisticsMs = 60_000;

/** Interval of the check of partitions, which are created weeks ahead, and the pause after a failure. */
export const partitionCheckMs = 60 * 60_000;
export const partitionRetryMs = 60_000;

/** Interval between two deletions of expired data. An event is deleted at most this long after it expires. */
export const retentionPassMs = 5 * 60_000;

/** Time-out of a retention statement: copying a million events, or vacuuming a large partition. */
export const retentionTimeoutMs = 10 * 60_000;

/**
 * The writer is considered stuck when it stores nothing for this time although messages wait: two statements
 * that hang have ended by then.
 */
export const stuckMs = 2 * storeTimeoutMs;

/** Interval between two looks for erasures that the dashboard requested. A look takes a millisecond. */
export const erasurePollMs = 2_000;

/** Interval between two looks for traces that another process made unresolved. A look takes a millisecond. */
export const unresolvedPollMs = 2_000;

/**
 * Pause after a process that erases has left something undone: another process runs it, or its last attempt
 * failed.
 */
export const erasureRetryMs = 10_000;

/** Events stored within this time are announced to the dashboards in one message. */
export const storedNoticeMs = 10;

/**
 * Interval between two looks at a stream with a replay window. What arrives meanwhile must fit into the half
 * of its bytes that the window leaves free, so a small stream is looked at more often.
 */
export const windowPollMsMax = 1_000;
export const windowPollMsMin = 50;

/** No disk of a queue has been seen to take more: a message is synced before it is acknowledged. */
export const queueBytesPerSecondMax = 200 * 1024 ** 2;

/** The share of a stream's bytes that stored messages may take. The rest is for those that wait. */
export const windowBytesShare = 0.5;

/** A purge for room goes down to this share of the limit, so that not every look purges. */
export const windowPurgeShare = 0.95;

/**
 * Interval of recording in Postgres how far a stream is stored: a replay after a restore repeats as much at
 * most.
 */
export const storedPositionMs = 10_000;

/**
 * Interval of counting the events that were stored: a restore names those of a gap with an uncertainty of as
 * much.
 */
export const storedCountMs = 60_000;

/**
 * A stream is removed when nothing was published to it for this time, and how often a writer looks whether
 * there is one.
 */
export const unusedStreamMs = 5 * 60_000;
export const unusedLookMs = 60_000;

/** Interval of the look for streams that were created or removed. */
export const streamLookMs = 2_000;

/**
 * Pause between two folds of statistics. The longer, the more statements share the work of changing rows, and
 * the more deltas a chart reads: at full load some 10,000.
 */
export const statisticsFoldMs = 2_000;
