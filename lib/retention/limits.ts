/**
 * Events, and segments, that one statement deletes. It takes some tens of milliseconds, after which whoever waits for its
 * disk or its locks goes on.
 */
export const deletedEventsMax = 5_000;
export const deletedSegmentsMax = 500;

/** Entries of the quarantine that one statement deletes. An entry holds up to 4 MiB. */
export const deletedEntriesMax = 200;

/** How long a deletion waits for a segment that is being rewritten. It is deleted in the next pass then. */
export const rowLockTimeoutMs = 500;

/** The id of a segment is made up to this much later than `received_at` is taken, at the start of its request. */
export const segmentIdDelayMs = 60 * 60_000;

/**
 * How long DDL waits for the lock of a partitioned table. Every statement that reads or writes the table waits behind it, so
 * it gives up soon, and tries again after a pause: two such waits are still far below 200 ms.
 */
export const tableLockTimeoutMs = 50;
export const tableLockPauseMs = 250;
export const tableLockTries = 40;

/**
 * How long DDL waits for a partition that receives no rows any more. Longer than Postgres' deadlock_timeout of 1 s, after
 * which an autovacuum that has the lock is cancelled.
 */
export const partitionLockTimeoutMs = 2_000;

/** A partition of a week that is over is vacuumed when this share of its rows is dead, and this long after the last time. */
export const vacuumedDeadShare = 0.1;
export const vacuumIntervalMs = 10 * 60_000;

/**
 * The rows that are left in a partition are copied into a new one when they fill less than this share of its pages, unless they
 * are too many: writes to that partition wait for the copy, some 20 s. A smaller partition is not worth it.
 */
export const rewrittenLiveShare = 0.5;
export const rewrittenEventsMax = 1_000_000;
export const rewrittenBytesMin = 1024 * 1024;

/**
 * The clock by which events expire catches up at this rate with a machine's clock that has jumped ahead: a machine that was off
 * for a month deletes what has expired within the next month, and a clock that is wrong by a year costs a day in each day
 * until somebody sees the alarm.
 */
export const retentionClockRateMax = 2;

/**
 * Most time since the last pass that is believed without a monotonic clock. So a restart moves the cutoff by twice of it at
 * most, half of the shortest retention; and a machine that is off each night does not fall behind.
 */
export const unseenTimeMsMax = 6 * 60 * 60_000;

/** How far the clock by which events expire may be behind before the log tells. */
export const retentionLagMsMax = 60 * 60_000;
