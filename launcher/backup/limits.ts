/** How long a backup waits until its WAL is in the archive. A segment takes well under a second; a slow disk has a queue of them. */
export const archiveTimeoutMs = 120_000;

/** A full segment is archived at once, one that is not full after this time. It is 16 MB, also when it is almost empty. */
export const archiveTimeout = '5min';

/** Free space that a copy leaves: with less, nats-server and Postgres on the same disk would stop. */
export const freeBytesLeft = 500 * 1024 ** 2;

/** Bytes that are read and written at a time, at most. */
export const copyBytes = 1024 * 1024;

/** Files that are copied at the same time. They share fsyncs, and do not keep the disk from Postgres. */
export const concurrentCopies = 4;

/** Interval between two lines of progress. */
export const progressMs = 5_000;

/** Days for which backups are kept when neither `--keep` nor BACKUP_RETENTION_DAYS says otherwise. */
export const keepDaysDefault = 7;
