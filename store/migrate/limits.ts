/** For a migration's statement: all other statements on its table wait meanwhile. */
export const migrationLockTimeoutMs = 2_000;

/** Of a locked statement, and the pause in between: twenty minutes, longer than retention holds a lock. */
export const migrationLockTries = 400;
export const migrationLockPauseMs = 1_000;

/** For the end of another migrator. */
export const migratorPollMs = 250;
