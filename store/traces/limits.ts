/**
 * Most spans of a trace whose relations are resolved. The spans are read each time that some are added:
 * 10,000 take some 30 ms. Beyond it, an event keeps the agent, thread and user that its own request named.
 */
export const resolvedNodesMax = 10_000;

export const largeTracesMax = 20;

/** Most pairs of traces with a common response that are read together, and most spans of those traces. */
export const partnersMax = 200;
export const partnerSpansMax = 20_000;

/**
 * Traces and spans of one space in a turn. A single larger trace is allowed. Traces of one call whose events
 * share segments are changed together: each statement writes its segments again.
 */
export const turnTracesMax = 500;
export const turnSpansMax = 10_000;

/** After this time a trace that could not be resolved, or lacks an event, is looked at again. */
export const postponedMs = 2_000;

/** Calls that one statement merges. Events of the space wait for the rows that it locks. */
export const mergedCallsMax = 500;

/** Segments, and their bytes, of which one statement changes texts. Memory holds them. */
export const editedSegmentsMax = 200;
export const editedTotalBytesMax = 8 * 1024 * 1024;

/** Largest segment after an event in it got a longer text. A segment of ingest has up to 4 MiB. */
export const editedBytesMax = 16 * 1024 * 1024;

/** Traces that one statement of `weir reproject` marks. */
export const markedTracesMax = 1_000;
