import { dayMs } from '../../platform/time.ts';

/** Rows of one statement, which takes some tens of milliseconds: bounds how long others wait for locks. */
export const deletedEventsMax = 5_000;
export const deletedSegmentsMax = 500;

/** Quarantine entries that one statement deletes. An entry has up to 4 MiB. */
export const deletedEntriesMax = 200;

/** Age of traces that have only spans of the kind `link`. A later call does not inherit from them. */
export const linksAgeMs = dayMs;

/** How long a deletion waits for a segment that is being rewritten. After that, the next pass deletes it. */
export const rowLockTimeoutMs = 500;

/**
 * A segment id is created up to this long after `received_at`, which is taken at the start of the request.
 */
export const segmentIdDelayMs = 60 * 60_000;

/** Wait for a partitioned table's lock, twice far below 200 ms: all statements queue behind waiting DDL. */
export const tableLockTimeoutMs = 50;
export const tableLockPauseMs = 250;
export const tableLockTries = 40;

/** Wait for an old partition's lock, above deadlock_timeout (1 s), which cancels a locking autovacuum. */
export const partitionLockTimeoutMs = 2_000;

/** A partition of a past week is vacuumed when this share of its rows is dead, at most once per interval. */
export const vacuumedDeadShare = 0.1;
export const vacuumIntervalMs = 10 * 60_000;

/**
 * A partition's rows are copied into a new one when they fill less of its pages. Writes wait for the copy, up
 * to 20 s, so not with too many rows; smaller partitions are not worth it.
 */
export const rewrittenLiveShare = 0.5;
export const rewrittenEventsMax = 1_000_000;
export const rewrittenBytesMin = 1024 * 1024;

/**
 * How fast the retention clock catches up with a machine clock that jumped ahead. A machine that was off for
 * a month deletes expired data within the next one; a clock wrong by a year costs an extra day of data per
 * day until the alarm is noticed.
 */
export const retentionClockRateMax = 2;

/**
 * Longest time since the last pass without a monotonic clock. A restart moves the cutoff by at most twice
 * this time, half of the shortest retention, and a machine that is off every night does not fall behind.
 */
export const unseenTimeMsMax = 6 * 60 * 60_000;

/** How far the retention clock may be behind before it is logged. */
export const retentionLagMsMax = 60 * 60_000;

/** Wait for statements that began before the deletion of a space, such as a dump; then it is retried. */
export const snapshotWaitMs = 60_000;
export const snapshotPollMs = 50;

/** Tries of copying a table that others have locked or may still read, and the pause between two tries. */
export const copyTries = 40;
export const copyPauseMs = 200;
