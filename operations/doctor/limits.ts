/** A writer stores within a second. */
export const queuedSecondsMax = 60;

export const queueRatioMax = 0.7;
export const diskFreeRatioMin = 0.15;

/** A disk that is full sooner, at the rate of last week, is a warning. In days. */
export const diskDaysMin = 30;

/** A longer open transaction keeps dead rows of all tables. Long exports end within minutes. */
export const transactionSecondsMax = 3_600;

/** Partitions are made five weeks ahead: with fewer the writer has not made any for three weeks. */
export const weeksAheadMin = 2;

/** A backup a day, and half a day for one that failed. */
export const backupSecondsMax = 36 * 3_600;

/** WAL behind the archive: a tenth under load. With more, Postgres cannot archive, and fills the disk. */
export const archiveBehindBytesMax = 512 * 1024 ** 2;

/** Age of a change that the control stream does not have. Writers relay once a second. */
export const pendingChangeSecondsMax = 60;

/** An older prepared transaction is in doubt: Citus resolves those of a failed commit in a minute. */
export const preparedSecondsMax = 300;

/** Writers fold up to 50,000 at a time, every two seconds, and at once when there are more. */
export const waitingDeltasMax = 200_000;
