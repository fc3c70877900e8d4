/**
 * Most spans of a trace whose relations are resolved. The spans are read each time that one is added: 10,000 take some 30 ms. Beyond it,
 * an event keeps the agent, thread and user that its own request named.
 */
export const resolvedNodesMax = 10_000;

/** Traces beyond it that the dashboard lists. */
export const largeTracesMax = 20;

/** Most pairs of traces with a common response that are read together, and most spans of those traces. */
export const partnersMax = 200;
export const partnerSpansMax = 20_000;

/** Traces that one statement resolves. */
export const tracesPerStatement = 50;

/** Attempts to resolve traces that get further spans meanwhile. Then the message is delivered again. */
export const resolveAttemptsMax = 20;

/** Events of one call that one statement merges. Each reads up to two segments, which memory holds. */
export const mergesPerStatement = 16;

/** Largest segment after an event in it got a longer text. A segment of ingest has up to 4 MiB. */
export const editedBytesMax = 16 * 1024 * 1024;
