/** Longest answer without events that is kept to be read; a longer one is recorded without its content. */
export const answerCharsMax = 16 * 1024 * 1024;

/** An attempt that a provider's SDK will surely repeat is kept this long: those SDKs follow a Retry-After below 60 s. */
export const retryWaitMaxMs = 90_000;

/** An attempt that may be repeated is kept this long: without Retry-After those SDKs wait 8 s at most. */
export const retryWaitMs = 10_000;
