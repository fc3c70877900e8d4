/** How long a transaction waits for a lock, the number of attempts, and the pause between them. */
export const lockTimeoutMs = 5_000;
export const lockTries = 60;
export const lockPauseMs = 1_000;

/** Interval at which a starting service retries to reach Postgres. */
export const reachedPollMs = 1_000;

/**
 * Postgres ends a session that is idle in a transaction for this long: a process that froze in one would hold
 * its locks until TCP gives up. The longest pause of Weir's transactions is the rewriting of a segment, far
 * below a second.
 */
export const idleInTransactionMs = 15_000;

/**
 * Replaces the space id of rows without a space: undecodable messages, and changes of users who are in no
 * space.
 */
export const noSpace = '00000000-0000-0000-0000-000000000000';

/**
 * Largest tolerated difference between the clocks of Postgres and a service. Synchronized machines differ by
 * milliseconds; others drift by about a second a day. Retention and quotas are measured in days, so a minute
 * is harmless.
 */
export const clockDifferenceMsMax = 60_000;

/** How often a service compares its clock with that of Postgres. */
export const clockCheckMs = 2_000;

/**
 * Lock time-out of DDL on partitions. Short, because reads and writes of the table queue behind the waiting
 * DDL.
 */
export const ddlLockTimeoutMs = 2_000;
