import type { FairLimits } from '../../lib/fair-limiter.ts';

/** A sign-in to the dashboard lasts this long. */
export const sessionTtlMs = 30 * 24 * 60 * 60 * 1_000;

/** A session that was opened with single sign-on lasts a working day: the provider then says whether its user still has an account. */
export const ssoSessionTtlMs = 12 * 60 * 60 * 1_000;

/** A session that is not used for a week ends: its browser may belong to somebody else by then. */
export const sessionIdleMs = 7 * 24 * 60 * 60 * 1_000;

/**
 * Changes that widen access need a session that authenticated at most this long ago: whoever finds an unlocked browser, or a
 * cookie, gets no API key and no role. Long enough to set up a space without a second question.
 */
export const confirmationTtlMs = 15 * 60 * 1_000;

/** The time of a session's last use is written at most this often: a write for each call would cost too much. */
export const sessionUseMs = 60_000;

/** Most sessions of a user. When one more opens, the one unused for longest ends. */
export const sessionsMax = 100;

/** Longest User-Agent that is kept, in characters. Clients choose it. */
export const userAgentCharsMax = 300;

/** Sign-in attempts with one e-mail address from one network in one window; more are answered with 429. */
export const signInAttemptsMax = 10;
export const signInWindowMs = 15 * 60 * 1_000;

/** Attempts with one e-mail address from all networks in one window: 4,800 guesses a day, however many addresses somebody has. */
export const signInAccountAttemptsMax = 50;

/** Attempts that fail from one wider network in one window: an office mistypes less, and a list of leaked passwords has more lines. */
export const signInNetworkAttemptsMax = 100;

/** Wrong link tokens from one network address in one window. A token has 256 bits and cannot be guessed: this bounds the cost of attempts. */
export const tokenAttemptsMax = 30;

/** Most e-mail addresses, networks, or pairs of both whose attempts are counted; the one with the fewest is dropped first. */
export const signInKeysMax = 10_000;

/**
 * Passwords that are verified concurrently: each takes 9 MiB and 25 ms of a core, and needs no authentication. In all, of one
 * wider network, and how many of it wait: a network that sends thousands does not delay the sign-ins of others.
 */
export const signInHashLimits: FairLimits = { atOnceMax: 8, atOnceOfSpaceMax: 4, waitingOfUserMax: 16 };

/** An invitation can be accepted for this long, by default and at most. */
export const invitationTtlHoursDefault = 7 * 24;
export const invitationTtlHoursMax = 30 * 24;

/** Most open invitations of a space: the list shows all of them. */
export const openInvitationsMax = 500;

/** Most passwords changed concurrently: each is two hashes, as expensive as a sign-in's. */
export const passwordChangesAtOnceMax = 2;

/** Days of which the list of API keys shows each key's events. */
export const apiKeyDaysShown = 30;

/** Most API keys of a space that are in force. */
export const apiKeysMax = 500;

/** How long a key that is rolled can still be used, by default and at most. */
export const keyOverlapHoursDefault = 24;
export const keyOverlapHoursMax = 30 * 24;

/** Most spaces that a user can own: each more is created by the operator. */
export const spacesOwnedMax = 50;

/** Days in one answer of `usage.daily`, and months in one of `usage.months`. */
export const usageDaysMax = 400;
export const usageMonthsMax = 36;

/** Rows in one page of the audit log, and in one of its download. */
export const auditPageDefault = 50;
export const auditPageMax = 500;

/** Entries of the quarantine in one page, and replayed by one call: each is stored in some milliseconds. */
export const quarantinePageMax = 200;
export const replayedAtOnceMax = 100;

/** A sign-in at the OpenID provider may take this long, and each request to the provider that long. */
export const ssoFlowTtlMs = 10 * 60 * 1_000;
export const oidcTimeoutMs = 5_000;

/** Longest path that is shown after single sign-on, in characters: it is kept in a cookie. */
export const returnPathCharsMax = 1_000;

/** Longest name of a space or a key, in characters. */
export const nameCharsMax = 100;

/** Largest body of a request to the dashboard API, and most calls that a client may put into one request. */
export const dashboardBodyBytesMax = 64 * 1024;
export const dashboardCallsMax = 20;

/**
 * Statements that run at a time for calls to spaces, and those of one space: others find a free connection. A list takes a few milliseconds:
 * eight connections answer a thousand a second. A browser that opens a long thread makes 200 calls at once.
 */
export const spaceQueryLimits: FairLimits = { atOnceMax: 8, atOnceOfSpaceMax: 6, waitingOfUserMax: 250 };

/** Connections for the data of spaces: two are left for live streams. */
export const dashboardConnectionsMax = spaceQueryLimits.atOnceMax + 2;

/** Connections for sign-in and sessions, which wait for no statement on a space's data. Each statement takes a millisecond. */
export const accountConnectionsMax = 4;

/** Postgres cancels a query of the dashboard after this time. */
export const dashboardQueryTimeoutMs = 10_000;

/** A call without a result after this time is answered with 503: Postgres hangs and does not cancel the query itself. */
export const dashboardCallTimeoutMs = 12_000;

/** Most connections of clients at a time: a browser opens up to six. Further ones are closed. */
export const dashboardSocketsMax = 2_000;

/** Events in one page of the list. */
export const eventsPageDefault = 50;
export const eventsPageMax = 200;

/** Additional properties that one list is filtered by. Each is one more condition on every row. */
export const attributeFiltersMax = 10;

/**
 * Events opened concurrently: each decompresses a segment of up to 4 MiB and scans it on the main thread, so more of them
 * would take memory and be no faster. The third slot is for another space.
 */
export const openingLimits: FairLimits = { atOnceMax: 3, atOnceOfSpaceMax: 2, waitingOfUserMax: 250 };

/** Largest difference between a duration and end minus start that is not flagged: clients round to milliseconds. */
export const durationToleranceMs = 1;

/** How long after its receipt an event may end and is not flagged: clocks that are synchronised differ by less. */
export const clockToleranceMs = 2_000;

/** Values that one list excludes. */
export const excludedValuesMax = 10;

/** Buckets of one chart: 30 days by hour, or a day by minute. */
export const chartBucketsMax = 1_500;

/** Groups of one chart that are shown apart. */
export const chartGroupsDefault = 10;
export const chartGroupsMax = 50;

/** Models whose costs are listed. More than any space uses. */
export const costModelsMax = 1_000;

/** Buckets of a histogram. Without statistics for its filter, each is estimated by reading events. */
export const histogramBucketsDefault = 60;
export const histogramBucketsMax = 120;

/** Events of a histogram that are counted one by one: 15 ms. Beyond, buckets are estimated. */
export const histogramEventsMax = 5_000;

/** The last events of a bucket of which the share that matches is taken as that of the whole bucket. */
export const histogramSampleEvents = 100;

/** Events of one trace that are shown. */
export const traceEventsMax = 5_000;

/** Pages that are read for one trace: each examines 12,000 events at most. */
export const tracePagesMax = 20;

/** LLM events of one trace whose tool calls are read, and their text together in characters. */
export const toolCallEventsMax = 500;
export const toolCallCharsMax = 16 * 1024 * 1024;

/** Tool calls of one LLM event that are read. Models call at most 128 tools at once; an event of 4 MiB has room for 350,000. */
export const toolCallsPerEventMax = 256;

/** Characters that are scanned for tool calls before other requests get their turn: 12 ms. One event may have more. */
export const toolCallSliceChars = 1024 * 1024;

/** Gaps of one trace, and overlaps, that are shown. */
export const traceIntervalsMax = 1_000;

/** Threads, or users, in one page. */
export const activityPageDefault = 30;
export const activityPageMax = 50;

/** Events that are examined for one page of threads or users: the first statement, and how many follow, each of twice as many. */
export const activityFirstWalkEvents = 1_250;
export const activityWalksMax = 4;

/** Events in whose segments one page of threads or users is counted. With more, counts are lower bounds. */
export const activityCountedEvents = 20_000;

/** Events that an export reads at once. The rows of larger pages outlive V8's space for young objects: 1,000 took 45 MiB more. */
export const exportPageEvents = 250;

/** Most text of events as they were sent that an export holds at once, in characters. */
export const exportTextCharsMax = 8 * 1024 * 1024;

/**
 * Exports and downloads of audit logs that run at a time: each holds some megabytes, and a statement now and then. The shares of a
 * user and a space leave room for others.
 */
export const downloadsMax = 8;
export const downloadsPerUserMax = 2;
export const downloadsPerSpaceMax = 3;

/** How long a client may take for a page of a download, up to 8 MiB: 70 KiB a second. A client that stops reading would hold it for ever. */
export const downloadPageMsMax = 120_000;

/** How long one page of a search takes at most, and how many bytes of payloads it reads: then it says where it goes on. */
export const searchTimeMs = 1_000;
export const searchBytesMax = 64 * 1024 * 1024;

/** Events of one page of a search, after which no further segment is read. One segment may have more. */
export const searchEventsMax = 100;

/** Segments that one statement lists for a search. */
export const searchSegmentsListed = 100;

/** Longest text that is searched, in characters. */
export const searchTextCharsMax = 1_000;

/**
 * Searches that run at a time: each holds a segment of up to 4 MiB and its text, and keeps the main thread busy for up to a second. The
 * third slot is for another space. More than ten that wait would exceed the time of a call.
 */
export const searchLimits: FairLimits = { atOnceMax: 3, atOnceOfSpaceMax: 2, waitingOfUserMax: 10 };
