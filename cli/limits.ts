/** How long `weir send` waits for a response: longer than a slow line needs for 4 MiB. Ingest times out much earlier. */
export const sendTimeoutMs = 30_000;

/** Longest statement of `weir erase`: copying a partition of a million events, or waiting for retention to end its pass. */
export const eraseTimeoutMs = 30 * 60_000;
