import type { FairLimits } from '../../platform/fair-limiter.ts';

/** Limit of a sealed filter, in characters: it is part of an address, and Node reads 16 KiB of headers. */
export const sealedCharsMax = 14_000;

export const apiKeyDaysShown = 30;

/** Active API keys of a space. */
export const apiKeysMax = 500;

/** A rolled key's remaining use: default and maximum. */
export const keyOverlapHoursDefault = 24;
export const keyOverlapHoursMax = 30 * 24;

/** The operator can create more for a user. */
export const spacesOwnedMax = 50;

/** Days in a response of `usage.daily`, and months in one of `usage.months`. */
export const usageDaysMax = 400;
export const usageMonthsMax = 36;

/** Rows in a page of the audit log, and in a page of its download. */
export const auditPageDefault = 50;
export const auditPageMax = 500;

/** Quarantine entries in a page, and entries replayed by one call: each takes some milliseconds. */
export const quarantinePageMax = 200;
export const replayedAtOnceMax = 100;

/** Limit of the reason of an erasure, in characters. */
export const reasonCharsMax = 500;

/** Time after which a preview of an erasure stops counting: before the time-out of the call. */
export const erasurePreviewMs = 8_000;

/** Limit of the name of a space or a key, in characters. */
export const nameCharsMax = 100;

export const dashboardBodyBytesMax = 64 * 1024;
export const dashboardCallsMax = 20;

/**
 * Statements for calls to spaces: in total, and of one space, so that others find a free connection. Eight
 * connections serve a thousand lists a second; a browser that opens a long thread makes 200 calls.
 */
export const spaceQueryLimits: FairLimits = { atOnceMax: 8, atOnceOfSpaceMax: 6, waitingOfUserMax: 250 };

/** Connections for the data of spaces; two are reserved for live streams. */
export const dashboardConnectionsMax = spaceQueryLimits.atOnceMax + 2;

/** Connections for sign-in and sessions, which never wait for statements on the data of spaces. */
export const accountConnectionsMax = 4;

export const dashboardQueryTimeoutMs = 10_000;

/** A call is answered with 503 after this time: Postgres hangs and did not cancel the statement. */
export const dashboardCallTimeoutMs = 12_000;

/** A browser opens up to six. Further ones are closed. */
export const dashboardSocketsMax = 2_000;

/** Unread bytes of all responses, sixty events of the largest size, and how often they are summed. */
export const unreadBytesMax = 256 * 1024 * 1024;
export const unreadCheckMs = 1_000;

/** A client that reads nothing of a response for this long is disconnected, as with a page of a download. */
export const unreadStallMsMax = 120_000;

export const eventsPageDefault = 50;
export const eventsPageMax = 200;

/** Most events compared: no index has these orders. Each is read, 5 µs of CPU, half on the main thread. */
export const topEventsCompared = 5_000;

export const errorEventsGrouped = 1_000;
export const errorGroupsShown = 20;

/** Additional properties in the filter of a list. Each is another condition on every row. */
export const attributeFiltersMax = 10;

/** Additional properties that a list shows as columns: more do not fit beside the others. */
export const attributeColumnsMax = 5;

/** Events opened at once: each scans up to 4 MiB on the main thread. The third slot is for another space. */
export const openingLimits: FairLimits = { atOnceMax: 3, atOnceOfSpaceMax: 2, waitingOfUserMax: 250 };

/**
 * Charts computed at once: one of 800 models by minute takes seconds of CPU time of Postgres, and half as
 * many of the event loop in slices, and holds 75,000 rows. A page asks for three; the fourth place is for
 * another space.
 */
export const chartLimits: FairLimits = { atOnceMax: 4, atOnceOfSpaceMax: 3, waitingOfUserMax: 250 };

/** Difference between a duration and end minus start that is not flagged: clients round to milliseconds. */
export const durationToleranceMs = 1;

/** How long after its receipt an event may end without being flagged. Synchronised clocks differ by less. */
export const clockToleranceMs = 2_000;

export const excludedValuesMax = 10;

/** Comparisons of numbers in the filter of a list: two for each measure. */
export const comparisonsMax = 6;

/** Conditions on notes in the filter of a list. Each is a look-up for each event that is examined. */
export const noteConditionsMax = 5;

/** Notes that one call adds, and events, threads and traces whose notes one call lists. */
export const notesAtOnceMax = 100;
export const notedTargetsListed = 200;
export const noteLabelsListed = 20;

/** Calls of a space that add notes, in a minute, to one process: five a second. */
export const noteCallsPerMinuteMax = 300;
/** Spaces whose calls are counted at a time. */
export const noteSpacesCounted = 10_000;

/** Longest range for comparing costs: the prices of all models that were used in it are looked up. */
export const costRangeDaysMax = 92;

/** Models whose costs are compared. Each event's model is looked for among them. */
export const costRateModelsMax = 200;

/** Fields whose values one call counts, and the values listed of each. */
export const facetFieldsMax = 20;
export const facetValuesMax = 20;

/**
 * Newest events whose values are counted where statistics do not have them, and how many of them one
 * statement reads: 5,000 at once would hold the event loop for too long.
 */
export const facetEventsMax = 5_000;
export const facetRowsAtOnce = 1_000;

/** Buckets of a chart: 30 days by hour, or a day by minute. */
export const chartBucketsMax = 1_500;

export const chartGroupsDefault = 10;
export const chartGroupsMax = 50;

/** Ten groups and all others in every bucket: each point takes some 40 µs, and 200 bytes. */
export const chartCellsMax = 11 * chartBucketsMax;

/** Models whose costs are listed: more than any space uses. */
export const costModelsMax = 1_000;

export const pricedDays = 30;

/** Buckets of a histogram. Without statistics for its filter, each is estimated by reading events. */
export const histogramBucketsDefault = 60;
export const histogramBucketsMax = 120;

/** Events that a histogram counts one by one, which takes 15 ms. With more, buckets are estimated. */
export const histogramEventsMax = 5_000;

/** Events that Postgres counts in some 100 ms, where statistics have more than is stored. */
export const histogramExaminedMax = 100_000;

/** Newest events of a bucket from whose share of matches the bucket is estimated. */
export const histogramSampleEvents = 100;

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

export const activityPageDefault = 30;
export const activityPageMax = 50;

/** Events of the first statement, and the number of statements; each examines twice as many. */
export const activityFirstWalkEvents = 1_250;
export const activityWalksMax = 4;

export const activitySearchCharsMax = 256;

export const activityModelsShown = 5;

/** Events of the segments counted for a page of threads or users. With more, counts are lower bounds. */
export const activityCountedEvents = 20_000;

/** Rows of larger pages outlive V8's young generation: 1,000 took 45 MiB more. */
export const exportPageEvents = 250;

/** Events read together. Many, because events that started together may be in different segments. */
export const exportTextEventsMax = 4_000;
export const exportTextCharsMax = 8 * 1024 * 1024;

/** Bytes of segments that all exports keep open until they have passed their events. */
export const exportOpenBytesMax = 64 * 1024 * 1024;

/** Limits of a page of a search, which continues on the next. */
export const searchTimeMs = 1_000;
export const searchBytesMax = 64 * 1024 * 1024;

/** Most events in a page of a search, after which no further segment is read. */
export const searchEventsMax = 100;

export const searchSegmentsListed = 100;

export const searchTextCharsMax = 1_000;

/**
 * Searches at once. Each holds two segments of up to 4 MiB, one with its text, and all share a thread. The
 * third slot is for another space. With more than ten waiting, calls would exceed their time limit.
 */
export const searchLimits: FairLimits = { atOnceMax: 3, atOnceOfSpaceMax: 2, waitingOfUserMax: 10 };
