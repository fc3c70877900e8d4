import { dayMs } from '../../platform/time.ts';

/**
 * Events and segments that one statement deletes. It takes some tens of milliseconds, which bounds how long
 * other statements wait for its locks and its disk I/O.
 */
export const deletedEventsMax = 5_000;
export const deletedSegmentsMax = 500;

/** Quarantine entries that one statement deletes. An entry has up to 4 MiB. */
export const deletedEntriesMax = 200;

/**
 * How long traces are kept that have only spans of the kind `link`. A call that arrives later does not
 * inherit from them.
 */
export const linksAgeMs = dayMs;

/** How long a deletion waits for a segment that is being rewritten. After that, the next pass deletes it. */
export const rowLockTimeoutMs = 500;

/**
 * A segment id is created up to this long after `received_at`, which is taken at the start of the request.
 */
export const segmentIdDelayMs = 60 * 60_000;

/**
 * How long DDL waits for the lock of a partitioned table. All statements on the table queue behind it, so it
 * gives up soon and retries after a pause: even two such waits are far below 200 ms.
 */
export const tableLockTimeoutMs = 50;
export const tableLockPauseMs = 250;
export const tableLockTries = 40;

/**
 * How long DDL waits for a partition that receives no new rows. Longer than deadlock_timeout of Postgres (1
 * s), after which an autovacuum that holds the lock is cancelled.
 */
export const partitionLockTimeoutMs = 2_000;

/** A partition of a past week is vacuumed when this share of its rows is dead, at most once per interval. */
export const vacuumedDeadShare = 0.1;
export const vacuumIntervalMs = 10 * 60_000;

/**
 * The remaining rows of a partition are copied into a new one when they fill less than this share of its
 * pages, unless there are too many: writes to that partition wait for the copy, up to about 20 s. Smaller
 * partitions are not worth it.
 */
export const rewrittenLiveShare = 0.5;
export const rewrittenEventsMax = 1_000_000;
export const rewrittenBytesMin = 1024 * 1024;

/**
 * How fast the retention clock catches up with a machine clock that jumped ahead. After a month switched off,
 * a machine deletes the expired data within the next month; a clock that is wrong by a year costs one extra
 * day of data per day until the alarm is noticed.
 */
export const retentionClockRateMax = 2;

/**
 * Longest time since the last pass that is accepted without a monotonic clock. A restart thus moves the
 * cutoff by at most twice this time, half of the shortest retention, and a machine that is off every night
 * does not fall behind.
 */
export const unseenTimeMsMax = 6 * 60 * 60_000;

/** How far the retention clock may be behind before it is logged. */
export const retentionLagMsMax = 60 * 60_000;

/**
 * How long the deletion of a space waits for statements that began before it, such as a dump; then it is
 * tried again later.
 */
export const snapshotWaitMs = 60_000;
export const snapshotPollMs = 50;

/**
 * How often an erasure tries to copy a table that others have locked or may still read, and the pause between
 * two tries.
 */
export const copyTries = 40;
export const copyPauseMs = 200;
