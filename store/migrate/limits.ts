/** Lock time-out of a migration's statement: all other statements on its table wait meanwhile. */
export const migrationLockTimeoutMs = 2_000;

/** Tries of a locked statement, and the pause in between: twenty minutes, longer than retention's locks. */
export const migrationLockTries = 400;
export const migrationLockPauseMs = 1_000;

/** Interval at which a migrator looks whether another one has ended. */
export const migratorPollMs = 250;
