/**
 * Most spans of a trace whose relations are resolved. The spans are read each time that one is added: 10,000 take some 30 ms. Beyond it,
 * an event keeps the agent, thread and user that its own request told.
 */
export const resolvedNodesMax = 10_000;

/** Traces that one statement resolves. */
export const tracesPerStatement = 50;

/** Attempts to resolve traces that get further spans meanwhile. Then the message is delivered again. */
export const resolveAttemptsMax = 20;
