/** `max_bytes`: 300,000 changes, or an erasure of two million events. Beyond it the oldest are dropped. */
export const controlBytesMax = 128 * 1024 ** 2;

/** Bytes of a message's row images, before compression, and the most changes. A larger row is a message. */
export const messageImageBytesMax = 512 * 1024;
export const messageChangesMax = 500;

/** A row image of some 500 KiB. */
export const erasedIdsPerChange = 2_000;

/** An answer's wait for the control stream. A publish takes milliseconds, an election seconds. */
export const relayWaitMs = 2_000;

/**
 * Time after a failed relay in which answers do not wait: while the queue is away, each would wait in vain.
 */
export const relayPauseMs = 5_000;

/** Poll interval for changes of stopped processes, and of programs without a queue. */
export const relayPollMs = 1_000;

export const readTimeoutMs = 5_000;

export const readMessagesMax = 256;

/** Numbers by which a change may be ahead of a later one. Overlapping transactions take far fewer. */
export const numbersSkipped = 100_000;
