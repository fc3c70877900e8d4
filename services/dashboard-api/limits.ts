import type { FairLimits } from '../../platform/fair-limiter.ts';

/** In characters: a sealed filter is part of an address, and Node reads 16 KiB of headers. */
export const sealedCharsMax = 14_000;

export const apiKeyDaysShown = 30;

/** Of a space. */
export const apiKeysMax = 500;

/** A rolled key's remaining use: default and maximum. */
export const keyOverlapHoursDefault = 24;
export const keyOverlapHoursMax = 30 * 24;

/** The operator can create more for a user. */
export const spacesOwnedMax = 50;

/** In a response of `usage.daily`, and of `usage.months`. */
export const usageDaysMax = 400;
export const usageMonthsMax = 36;

/** In a page of the audit log, and of its download. */
export const auditPageDefault = 50;
export const auditPageMax = 500;

/** In a page, and replayed by one call: each takes some milliseconds. */
export const quarantinePageMax = 200;
export const replayedAtOnceMax = 100;

/** In characters. */
export const reasonCharsMax = 500;

/** Before the time-out of the call. */
export const erasurePreviewMs = 8_000;

/** Of a space or a key, in characters. */
export const nameCharsMax = 100;

export const dashboardBodyBytesMax = 64 * 1024;
export const dashboardCallsMax = 20;

/**
 * Statements for calls to spaces: in total, and of one space, so that others find a free connection. Eight
 * connections serve a thousand lists a second; a browser that opens a long thread makes 200 calls.
 */
export const spaceQueryLimits: FairLimits = { atOnceMax: 8, atOnceOfSpaceMax: 6, waitingOfUserMax: 250 };

/** For the data of spaces; two are reserved for live streams. */
export const dashboardConnectionsMax = spaceQueryLimits.atOnceMax + 2;

/** For sign-in and sessions, which never wait for statements on the data of spaces. */
export const accountConnectionsMax = 4;

export const dashboardQueryTimeoutMs = 10_000;

/** Then 503: Postgres hangs and did not cancel the statement. */
export const dashboardCallTimeoutMs = 12_000;

/** A browser opens up to six. Further ones are closed. */
export const dashboardSocketsMax = 2_000;

/** Of all responses, sixty events of the largest size, and how often these bytes are summed. */
export const unreadBytesMax = 256 * 1024 * 1024;
export const unreadCheckMs = 1_000;

/** Then a client that reads nothing of a response is disconnected, as with a page of a download. */
export const unreadStallMsMax = 120_000;

export const eventsPageDefault = 50;
export const eventsPageMax = 200;

/** No index has these orders: each event is read, 5 µs of CPU, half of it on the main thread. */
export const topEventsCompared = 5_000;

export const errorEventsGrouped = 1_000;
export const errorGroupsShown = 20;

/** Each is another condition on every row. */
export const attributeFiltersMax = 10;

/**
 * Each event decompresses up to 4 MiB and scans it on the main thread: more at once would not be faster. The
 * third slot is for another space.
 */
export const openingLimits: FairLimits = { atOnceMax: 3, atOnceOfSpaceMax: 2, waitingOfUserMax: 250 };

/** Between a duration and end minus start, unflagged, since clients round to milliseconds. */
export const durationToleranceMs = 1;

/** How long after its receipt an event may end without being flagged. Synchronised clocks differ by less. */
export const clockToleranceMs = 2_000;

export const excludedValuesMax = 10;

/** Two for each measure. */
export const comparisonsMax = 6;

/** For comparing costs: the prices of all models that were used in the range are looked up. */
export const costRangeDaysMax = 92;

/** Each event's model is looked for among them. */
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

/** 30 days by hour, or a day by minute. */
export const chartBucketsMax = 1_500;

export const chartGroupsDefault = 10;
export const chartGroupsMax = 50;

/** Ten groups and all others in every bucket: each point takes some 40 µs, and 200 bytes. */
export const chartCellsMax = 11 * chartBucketsMax;

/** More than any space uses. */
export const costModelsMax = 1_000;

export const pricedDays = 30;

/** Without statistics for the filter, each bucket is estimated by reading events. */
export const histogramBucketsDefault = 60;
export const histogramBucketsMax = 120;

/** Counted one by one, in 15 ms. With more, buckets are estimated. */
export const histogramEventsMax = 5_000;

/** Counted by Postgres in some 100 ms, where statistics have more than is stored. */
export const histogramExaminedMax = 100_000;

/** Newest events of a bucket from whose share of matches the bucket is estimated. */
export const histogramSampleEvents = 100;

export const traceEventsMax = 5_000;

/** Of a trace's events, and of its spans: a longer answer would hold the event loop too long. */
export const traceEventCharsMax = 4 * 1024 * 1024;
export const traceSpanCharsMax = 1024 * 1024;

/** Some 150 bytes each. */
export const traceSpansMax = 10_000;

/** Of one statement: 5,000 rows at once would hold the event loop for 100 ms. */
export const traceRowsAtOnce = 1_000;

/** Each examines at most 12,000 events. */
export const tracePagesMax = 20;

/** And the limit of their text in characters. */
export const toolCallEventsMax = 500;
export const toolCallCharsMax = 16 * 1024 * 1024;

/** Models call at most 128 tools at once, but an event of 4 MiB has room for 350,000. */
export const toolCallsPerEventMax = 256;

/** Scanned before the event loop serves other requests: 12 ms. A single event may have more. */
export const toolCallSliceChars = 1024 * 1024;

export const traceIntervalsMax = 1_000;

export const activityPageDefault = 30;
export const activityPageMax = 50;

/** Of the first statement, and the number of statements; each examines twice as many. */
export const activityFirstWalkEvents = 1_250;
export const activityWalksMax = 4;

export const activitySearchCharsMax = 256;

/** Of a thread or user. */
export const activityModelsShown = 5;

/** Events counted for a page of threads or users. With more, counts are lower bounds. */
export const activityCountedEvents = 20_000;

/** Rows of larger pages outlive V8's young generation: 1,000 took 45 MiB more. */
export const exportPageEvents = 250;

/** Read together. Many, because events that started together may be in different segments. */
export const exportTextEventsMax = 4_000;
export const exportTextCharsMax = 8 * 1024 * 1024;

/** Of segments that all exports keep open until they have passed their events. */
export const exportOpenBytesMax = 64 * 1024 * 1024;

/** Of one page: the search continues on the next. */
export const searchTimeMs = 1_000;
export const searchBytesMax = 64 * 1024 * 1024;

/** After which no further segment is read. One segment may have more. */
export const searchEventsMax = 100;

/** By one statement. */
export const searchSegmentsListed = 100;

export const searchTextCharsMax = 1_000;

/**
 * Each search holds two segments of up to 4 MiB, one with its text, and all share a thread. The third slot is
 * for another space. With more than ten waiting, calls would exceed their time limit.
 */
export const searchLimits: FairLimits = { atOnceMax: 3, atOnceOfSpaceMax: 2, waitingOfUserMax: 10 };
