export const traceEventsMax = 5_000;

/** Characters of a trace's events, and of its spans: a longer answer would hold the event loop too long. */
export const traceEventCharsMax = 4 * 1024 * 1024;
export const traceSpanCharsMax = 1024 * 1024;

/** Spans of OpenTelemetry that are read of a trace: some 150 bytes each. */
export const traceSpansMax = 10_000;

/** Rows that one statement reads: 5,000 rows at once would hold the event loop for 100 ms. */
export const traceRowsAtOnce = 1_000;

/** Pages read for a trace: each examines at most 12,000 events. */
export const tracePagesMax = 20;

/** LLM events of a trace whose tool calls are read, and the limit of their text in characters. */
export const toolCallEventsMax = 500;
export const toolCallCharsMax = 16 * 1024 * 1024;

/** Models call at most 128 tools at once, but an event of 4 MiB has room for 350,000. */
export const toolCallsPerEventMax = 256;

/** Scanned before the event loop serves other requests: 12 ms. A single event may have more. */
export const toolCallSliceChars = 1024 * 1024;

export const traceIntervalsMax = 1_000;
