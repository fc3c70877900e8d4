/** Characters of an answer's JSON: some 6,000 tokens, so that several answers fit a model's context. */
export const answerCharsMax = 24_000;

/** Limit of one text in a list, and of an event's input and output in a thread, in characters. */
export const listedTextCharsMax = 300;
export const threadTextCharsMax = 1_200;

/** Characters of an event that `get_event` returns at a time. */
export const eventCharsDefault = 12_000;
export const eventCharsMax = 20_000;

/** Events in an answer: by default and at most, and those of a thread, whose payloads are read. */
export const answerEventsDefault = 20;
export const answerEventsMax = 50;
export const threadEventsDefault = 8;
export const threadEventsMax = 15;

/** Events of a trace in an answer, and differences of a comparison. */
export const traceEventsShown = 60;
export const differencesShown = 60;

/** An event of 4 MiB could have a million values. */
export const comparedValuesMax = 50_000;

/** Characters of compared paths: each is hashed on the event loop; a key can be as long as an event. */
export const comparedPathCharsMax = 4 * 1024 * 1024;

/** Buckets of a chart: each is a number for each group. */
export const chartPointsMax = 400;

/** A request is answered with 503 after this time. A tool makes at most two calls after each other. */
export const mcpTimeoutMs = 30_000;
