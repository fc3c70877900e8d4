/** Longest response, other than an event stream, that is parsed. A longer one is recorded without content. */
export const answerCharsMax = 16 * 1024 * 1024;

/** How long a failed attempt is kept that a provider's SDK will retry: these SDKs follow a Retry-After below 60 s. */
export const retryWaitMaxMs = 90_000;

/** How long a failed attempt is kept that may be retried: without Retry-After these SDKs wait at most 8 s. */
export const retryWaitMs = 10_000;
