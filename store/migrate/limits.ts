/**
 * Lock time-out of a migration's statement, in milliseconds: all other statements on its table wait
 * meanwhile.
 */
export const migrationLockTimeoutMs = 2_000;

/**
 * How often a locked statement is tried, and the pause in between: for twenty minutes, longer than retention
 * holds a lock.
 */
export const migrationLockTries = 400;
export const migrationLockPauseMs = 1_000;

/** Interval at which a migrator looks whether another one has ended. */
export const migratorPollMs = 250;
