/**
 * `max_bytes` of the control stream. A change takes some 350 bytes, the id of an erased event some 60: enough
 * for 300,000 changes, or for the erasure of two million events. Beyond it the oldest changes are dropped.
 */
export const controlBytesMax = 128 * 1024 ** 2;

/**
 * Bytes of the row images of one message, before compression, and the most changes in it. A larger row is a
 * message of its own.
 */
export const messageImageBytesMax = 512 * 1024;
export const messageChangesMax = 500;

/** The most ids that one change of an erasure has: a row image of some 500 KiB. */
export const erasedIdsPerChange = 2_000;

/**
 * How long an answer waits for the control stream. A publish takes milliseconds; an election in a cluster
 * takes seconds.
 */
export const relayWaitMs = 2_000;

/**
 * After a failed relay answers do not wait for this long: while the queue is away, each would wait for the
 * whole time limit.
 */
export const relayPauseMs = 5_000;

/**
 * How often a writer relays the changes that others have left: those of stopped processes, and of programs
 * without a queue.
 */
export const relayPollMs = 1_000;

/** Time-out of a pull from the control stream. */
export const readTimeoutMs = 5_000;

/** Messages of one pull of the control stream. */
export const readMessagesMax = 256;

/**
 * The number of a change may be above that of a change which is published later. Transactions that overlap
 * take far fewer numbers.
 */
export const numbersSkipped = 100_000;
