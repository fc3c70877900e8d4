/**
 * `weir send` waits for a response longer than a slow line needs for 4 MiB. Ingest times out much earlier.
 */
export const sendTimeoutMs = 30_000;

/** A statement of `weir erase` copies a million events, or waits for retention to end its pass. */
export const eraseTimeoutMs = 30 * 60_000;
