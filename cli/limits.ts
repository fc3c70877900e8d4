/**
 * Events that `weir events` reads at a time, if their text fits into `printedCharsMax`. Large, because events that started
 * together may be in different segments, and each page decompresses every segment that it reads.
 */
export const printedEventsPage = 5_000;
export const printedCharsMax = 64 * 1024 * 1024;

/** How long `weir send` waits for a response: longer than a slow line needs for 4 MiB. Ingest times out much earlier. */
export const sendTimeoutMs = 30_000;

/**
 * How long `weir send` retries one batch by default. A crashed service is back within seconds; 90 s also cover a restart of all
 * services of a machine, and bound the wait for a service that stays down.
 */
export const sendRetryForSeconds = 90;

/** How often `weir send` stores how far it is: a command that is killed repeats at most the requests of this time. */
export const sendSaveIntervalMs = 1_000;

/** Bytes at the start of a file that identify it together with its size and time. */
export const sendHeadBytes = 64 * 1024;

/** Most distinct errors in the summary of `weir send`: each may quote a part of the input. */
export const sendErrorsMax = 100;

/** Longest statement of `weir erase`: copying a partition of a million events, or waiting for retention to end its pass. */
export const eraseTimeoutMs = 30 * 60_000;

/** Rows of the audit log that are read at once. */
export const auditPageRows = 500;

/**
 * The longest time between the receipt of a request and the creation of its segment that `weir find` allows for. Reading the
 * body, waiting for the previous publish, and the two publish time-outs take seconds.
 */
export const quarantineReceiptLagMs = 60_000;

/** How long a command waits for the control stream before it ends. Shorter than the election of a leader in a cluster can take. */
export const relayTimeoutMs = 5_000;

/** Interval between two looks at the progress of a restore. */
export const restorePollMs = 250;
