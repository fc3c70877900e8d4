import type { FairLimits } from '../../platform/fair-limiter.ts';

/** Limit of a sealed filter, in characters: it is part of an address, and Node reads 16 KiB of headers. */
export const sealedCharsMax = 14_000;

/** Days for which the list of API keys shows each key's events. */
export const apiKeyDaysShown = 30;

/** Active API keys of a space. */
export const apiKeysMax = 500;

/** How long a rolled key can still be used: default and maximum. */
export const keyOverlapHoursDefault = 24;
export const keyOverlapHoursMax = 30 * 24;

/** Spaces that a user can own. The operator can create more. */
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

/** Limits of a request body, and of the calls in one request. */
export const dashboardBodyBytesMax = 64 * 1024;
export const dashboardCallsMax = 20;

/**
 * Concurrent statements for calls to spaces: in total, and of one space, so that others find a free connection. A list takes a few
 * milliseconds: eight connections serve a thousand a second. A browser that opens a long thread makes 200 calls at once.
 */
export const spaceQueryLimits: FairLimits = { atOnceMax: 8, atOnceOfSpaceMax: 6, waitingOfUserMax: 250 };

/** Connections for the data of spaces; two are reserved for live streams. */
export const dashboardConnectionsMax = spaceQueryLimits.atOnceMax + 2;

/** Connections for sign-in and sessions, which never wait for statements on the data of spaces. Each statement takes a millisecond. */
export const accountConnectionsMax = 4;

/** Statement time-out of the dashboard. */
export const dashboardQueryTimeoutMs = 10_000;

/** A call without a result after this time is answered with 503: Postgres hangs and did not cancel the statement. */
export const dashboardCallTimeoutMs = 12_000;

/** Client connections. A browser opens up to six. Further ones are closed. */
export const dashboardSocketsMax = 2_000;

/**
 * Bytes of all responses that clients have not read, and how often they are summed. Sixty events of the largest size: enough for slow
 * clients, and far below the memory of a process.
 */
export const unreadBytesMax = 256 * 1024 * 1024;
export const unreadCheckMs = 1_000;

/** A client that reads nothing of a response for this long is disconnected. The same as for a page of a download. */
export const unreadStallMsMax = 120_000;

/** Events in a page of the list. */
export const eventsPageDefault = 50;
export const eventsPageMax = 200;

/**
 * Most events compared for the slowest, largest or most expensive ones. No index has these orders: each event is read, 5 µs of CPU, half of
 * it on the main thread.
 */
export const topEventsCompared = 5_000;

/** Most errors counted by message, and messages shown. */
export const errorEventsGrouped = 1_000;
export const errorGroupsShown = 20;

/** Additional properties in the filter of a list. Each is another condition on every row. */
export const attributeFiltersMax = 10;

/**
 * Events opened concurrently. Each decompresses a segment of up to 4 MiB and scans it on the main thread, so more would take memory
 * without being faster. The third slot is for another space.
 */
export const openingLimits: FairLimits = { atOnceMax: 3, atOnceOfSpaceMax: 2, waitingOfUserMax: 250 };

/** Largest difference between a duration and end minus start that is not flagged, since clients round to milliseconds. */
export const durationToleranceMs = 1;

/** How long after its receipt an event may end without being flagged. Synchronised clocks differ by less. */
export const clockToleranceMs = 2_000;

/** Excluded values in the filter of a list. */
export const excludedValuesMax = 10;

/** Comparisons of numbers in the filter of a list: two for each measure. */
export const comparisonsMax = 6;

/** The longest range in which costs are compared, in days: the prices of all models that were used in it are looked up. */
export const costRangeDaysMax = 92;

/** Models whose costs are compared. Each event's model is looked for among them. */
export const costRateModelsMax = 200;

/** Values that complete what is typed in a search field, and the days of statistics that they are from. */
export const fieldValuesMax = 20;
export const fieldValueDays = 30;

/** Newest events whose values complete a field without statistics: 10 ms. */
export const fieldValueEvents = 5_000;

/** Buckets of a chart: 30 days by hour, or a day by minute. */
export const chartBucketsMax = 1_500;

/** Groups that a chart shows separately. */
export const chartGroupsDefault = 10;
export const chartGroupsMax = 50;

/**
 * Points of a chart over all its groups: ten groups and all others in every bucket. Each takes some 40 µs, and 200 bytes of the response.
 */
export const chartCellsMax = 11 * chartBucketsMax;

/** Models whose costs are listed: more than any space uses. */
export const costModelsMax = 1_000;

/** Days whose models the page of prices lists. */
export const pricedDays = 30;

/** Buckets of a histogram. Without statistics for its filter, each is estimated by reading events. */
export const histogramBucketsDefault = 60;
export const histogramBucketsMax = 120;

/** Events that a histogram counts one by one, which takes 15 ms. With more, buckets are estimated. */
export const histogramEventsMax = 5_000;

/** Events in the range of a histogram that Postgres counts, in some 100 ms, where statistics have more than is stored. */
export const histogramExaminedMax = 100_000;

/** Newest events of a bucket from whose share of matches the bucket is estimated. */
export const histogramSampleEvents = 100;

/** Events shown of a trace. */
export const traceEventsMax = 5_000;

/** Characters of the texts of a trace's events, and of its spans: a longer answer would take the event loop too long. */
export const traceEventCharsMax = 4 * 1024 * 1024;
export const traceSpanCharsMax = 1024 * 1024;

/** Spans of OpenTelemetry that are read of a trace: some 150 bytes each. */
export const traceSpansMax = 10_000;

/** Events or spans of a trace that one statement reads: 5,000 rows at once would hold the event loop for 100 ms. */
export const traceRowsAtOnce = 1_000;

/** Pages read for a trace: each examines at most 12,000 events. */
export const tracePagesMax = 20;

/** LLM events of a trace whose tool calls are read, and the limit of their text in characters. */
export const toolCallEventsMax = 500;
export const toolCallCharsMax = 16 * 1024 * 1024;

/** Tool calls read of one LLM event. Models call at most 128 tools at once, but an event of 4 MiB has room for 350,000. */
export const toolCallsPerEventMax = 256;

/** Characters scanned for tool calls before the event loop serves other requests: 12 ms. A single event may have more. */
export const toolCallSliceChars = 1024 * 1024;

/** Gaps shown of a trace, and overlaps. */
export const traceIntervalsMax = 1_000;

/** Threads or users in a page. */
export const activityPageDefault = 30;
export const activityPageMax = 50;

/** Events that the first statement for a page of threads or users examines, and the number of statements; each examines twice as many. */
export const activityFirstWalkEvents = 1_250;
export const activityWalksMax = 4;

/** Limit of the text of a search for threads or users, in characters. */
export const activitySearchCharsMax = 256;

/** Models shown of a thread or user. */
export const activityModelsShown = 5;

/** Events of the segments counted for a page of threads or users. With more, counts are lower bounds. */
export const activityCountedEvents = 20_000;

/** Events read at once by an export. Rows of larger pages outlive V8's young generation: 1,000 took 45 MiB more. */
export const exportPageEvents = 250;

/**
 * Limits of the events whose texts an export reads together, and of the characters of these texts. Many, because events that started
 * together may be in different segments.
 */
export const exportTextEventsMax = 4_000;
export const exportTextCharsMax = 8 * 1024 * 1024;

/** Bytes of segments that all exports keep open until they have passed their events. */
export const exportOpenBytesMax = 64 * 1024 * 1024;

/** Limits of one page of a search: its time, and the bytes of payloads that it reads. The search continues on the next page. */
export const searchTimeMs = 1_000;
export const searchBytesMax = 64 * 1024 * 1024;

/** Events in a page of a search, after which no further segment is read. One segment may have more. */
export const searchEventsMax = 100;

/** Segments listed by one statement of a search. */
export const searchSegmentsListed = 100;

/** Limit of the searched text, in characters. */
export const searchTextCharsMax = 1_000;

/**
 * Concurrent searches. Each holds two segments of up to 4 MiB, one of them with its text, and all share one thread. The third slot is
 * for another space. With more than ten waiting, calls would exceed their time limit.
 */
export const searchLimits: FairLimits = { atOnceMax: 3, atOnceOfSpaceMax: 2, waitingOfUserMax: 10 };
