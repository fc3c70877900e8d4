/** Longer than a slow line needs for 4 MiB. Ingest times out much earlier. */
export const sendTimeoutMs = 30_000;

/** For copying a partition of a million events, or waiting for retention to end its pass. */
export const eraseTimeoutMs = 30 * 60_000;
