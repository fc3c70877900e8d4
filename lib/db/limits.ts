/** Longest retention, in days: a hundred years. */
export const retentionDaysMax = 36_500;

/** How long a transaction waits for a row or a table that another one holds, and how often it is tried again. */
export const lockTimeoutMs = 5_000;
export const lockTries = 60;
export const lockPauseMs = 1_000;

/** How often a service that needs Postgres to start looks whether it is reachable. */
export const reachedPollMs = 1_000;

/**
 * Postgres ends a session that leaves a transaction open for so long without a statement: a process that froze in one would hold its
 * locks until TCP gives up. The longest of our pauses is the rewriting of a segment, far below a second.
 */
export const idleInTransactionMs = 15_000;

/** Stands for the space of what belongs to none: a message that nobody can read, a change of a user who is in no space. */
export const noSpace = '00000000-0000-0000-0000-000000000000';

/**
 * Most that the clocks of Postgres and of a service may differ by. Synchronized machines differ by milliseconds, and those without
 * synchronization drift by about a second a day. What depends on clocks is measured in days: a minute harms none of it.
 */
export const clockDifferenceMsMax = 60_000;

/** How often a service compares its clock with that of Postgres. */
export const clockCheckMs = 2_000;

/** How long DDL on partitions waits for a lock before it gives up: whoever reads or writes the table waits behind it. */
export const ddlLockTimeoutMs = 2_000;
