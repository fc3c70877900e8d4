/** How long a transaction waits for a lock, the number of attempts, and the pause between them. */
export const lockTimeoutMs = 5_000;
export const lockTries = 60;
export const lockPauseMs = 1_000;

/** Interval at which a starting service retries to reach Postgres. */
export const reachedPollMs = 1_000;

/**
 * Postgres ends a session that is idle for so long: a process that froze in a transaction would hold its
 * locks until TCP gives up. Weir's longest pause, the rewriting of a segment, is far below a second.
 */
export const idleInTransactionMs = 15_000;

/** The space of undecodable messages, and of changes of users who are in no space. */
export const noSpace = '00000000-0000-0000-0000-000000000000';

/**
 * Largest tolerated difference between Postgres' and a service's clock. Synchronized machines differ by
 * milliseconds, others drift by a second a day; retention and quotas are in days, so a minute is harmless.
 */
export const clockDifferenceMsMax = 60_000;

export const clockCheckMs = 2_000;

/** Lock time-out of DDL on partitions: reads and writes of the table queue behind it. */
export const ddlLockTimeoutMs = 2_000;
