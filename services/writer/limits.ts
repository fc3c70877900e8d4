import { messageBytesMax } from '../../lib/queue/limits.ts';

/**
 * Most bytes one pull of the writer asks for: what its memory is planned for. nats-server never delivers a message that is
 * larger.
 */
export const pullBytesMax = messageBytesMax + 1024 * 1024;

/** Most messages that one pull asks for: more than one statement stores. */
export const pullMessagesMax = 256;

/** A pull that receives nothing ends after this, and the next one begins. */
export const pullExpiresMs = 2_000;

/** A consumer without a leader refuses pulls at once: the next pull waits this long. */
export const pullRetryMs = 250;

/** After two pulls without any reply from the consumer, the writer connects to another nats-server. */
export const pullSilenceMaxMs = 4_400;

/** How often the writer looks for stored messages that are still queued, and in how many looks it must find them before it acts. */
export const undeletedLookMs = 2_000;
export const undeletedLooks = 2;

/** How many events the writer puts into one statement, when that many are waiting. */
export const eventsPerStatementMax = 1_000;

/**
 * After a statement that had to be repeated, because a request had stored events beside new ones, the writer asks the ledger first for so
 * long: such requests come in bursts, when clients retry.
 */
export const repeatsExpectedMs = 10_000;

/**
 * How long a store statement waits for a lock. Statements of one space wait for each other for some tens of milliseconds; longer
 * waits are for transactions that hold a space's rows, and other spaces may be in the same statement.
 */
export const storeLockTimeoutMs = 2_000;

/**
 * A space whose rows were locked for that long is tried again after this time, and its messages are delivered again after as long; at
 * each delivery twice as late, up to a bound: reading them again takes time from other spaces.
 */
export const lockedSpaceMs = 2_000;
export const lockedDelayMsMax = 15_000;

/** After so many locked spaces in a row the others of a statement are not tried: the lock is on a table. */
export const lockedSpacesMax = 2;

/** How many bytes of segments the writer puts into one statement. */
export const statementBytesMax = 4 * 1024 * 1024;

/** After a transient failure a worker waits this long, and its messages are delivered again after about as long. */
export const retryDelayMs = 500;

/**
 * Longest delay until a message is tried again that quarantine refuses, too. Each retry costs a bisection; what it waits
 * for is an operator.
 */
export const retryDelayMsMax = 5 * 60_000;

/** How often the writer checks the partitions, which are made weeks ahead, and how soon after a failure. */
export const partitionCheckMs = 60 * 60_000;
export const partitionRetryMs = 60_000;

/** How often a writer looks for data that has expired. An event is deleted at most so long after it expired. */
export const retentionPassMs = 5 * 60_000;

/** Longest statement of the retention: copying a million events, or vacuuming a large partition. */
export const retentionTimeoutMs = 10 * 60_000;

/** Spaces in which events were stored within this time are reported to the dashboards by one message. */
export const storedNoticeMs = 10;
