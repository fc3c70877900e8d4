/** In characters of JSON: some 6,000 tokens, so that several answers fit the context of a model. */
export const answerCharsMax = 24_000;

/** Of one text in a list, and of an event's input and output in a thread. */
export const listedTextCharsMax = 300;
export const threadTextCharsMax = 1_200;

/** Returned by `get_event` at a time. */
export const eventCharsDefault = 12_000;
export const eventCharsMax = 20_000;

/** By default and at most, and those of a thread, whose payloads are read. */
export const answerEventsDefault = 20;
export const answerEventsMax = 50;
export const threadEventsDefault = 8;
export const threadEventsMax = 15;

/** In an answer, and differences of a comparison. */
export const traceEventsShown = 60;
export const differencesShown = 60;

/** An event of 4 MiB could have a million values. */
export const comparedValuesMax = 50_000;

/** Each path is hashed on the event loop; a key can be as long as an event. */
export const comparedPathCharsMax = 4 * 1024 * 1024;

/** Each bucket is a number for each group. */
export const chartPointsMax = 400;

/** Then the answer is 503. A tool makes at most two calls after each other. */
export const mcpTimeoutMs = 30_000;
