/** A message that is queued for longer is a warning: a writer stores within a second. In seconds. */
export const queuedSecondsMax = 60;

/** A queue or disk that is fuller is a warning. */
export const queueRatioMax = 0.7;
export const diskFreeRatioMin = 0.15;

/** A disk that is full sooner, at the rate of last week, is a warning. In days. */
export const diskDaysMin = 30;

/**
 * A transaction that is open for longer keeps dead rows of all tables, in seconds. Long exports end within
 * minutes.
 */
export const transactionSecondsMax = 3_600;

/** Partitions are made five weeks ahead. With fewer than two the writer has not made any for three weeks. */
export const weeksAheadMin = 2;

/** A backup a day, and half a day for one that failed. In seconds. */
export const backupSecondsMax = 36 * 3_600;

/**
 * A tenth of it is written in seconds under load; more means that Postgres cannot archive, and keeps its WAL
 * until the disk is full.
 */
export const archiveBehindBytesMax = 512 * 1024 ** 2;

/** Age of a change that the control stream does not have. Writers relay once a second. */
export const pendingChangeSecondsMax = 60;

/**
 * A prepared transaction that is older is in doubt: Citus resolves those of a failed commit within a minute.
 * In seconds.
 */
export const preparedSecondsMax = 300;

/**
 * Rows that wait to be added to the statistics. Writers fold up to 50,000 at a time, every two seconds, and
 * at once when there are more.
 */
export const waitingDeltasMax = 200_000;
