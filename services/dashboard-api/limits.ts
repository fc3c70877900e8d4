import type { FairLimits } from '../../platform/fair-limiter.ts';

/** Active API keys of a space. */
export const apiKeysMax = 500;

/** The operator can create more for a user. */
export const spacesOwnedMax = 50;

/** Rows in a page of the audit log, and in a page of its download. */
export const auditPageDefault = 50;
export const auditPageMax = 500;

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

export const eventsPageDefault = 50;
export const eventsPageMax = 200;

/** Most events compared: no index has these orders. Each is read, 5 µs of CPU, half on the main thread. */
export const topEventsCompared = 5_000;

/** Events opened at once: each scans up to 4 MiB on the main thread. The third slot is for another space. */
export const openingLimits: FairLimits = { atOnceMax: 3, atOnceOfSpaceMax: 2, waitingOfUserMax: 250 };

/**
 * Charts computed at once: one of 800 models by minute takes seconds of CPU time of Postgres, and half as
 * many of the event loop in slices, and holds 75,000 rows. A page asks for three; the fourth place is for
 * another space.
 */
export const chartLimits: FairLimits = { atOnceMax: 4, atOnceOfSpaceMax: 3, waitingOfUserMax: 250 };

/** Calls of a space that add notes, in a minute, to one process: five a second. */
export const noteCallsPerMinuteMax = 300;
/** Spaces whose calls are counted at a time. */
export const noteSpacesCounted = 10_000;

/** Bytes of segments that all exports keep open until they have passed their events. */
export const exportOpenBytesMax = 64 * 1024 * 1024;

/**
 * Searches at once. Each holds two segments of up to 4 MiB, one with its text, and all share a thread. The
 * third slot is for another space. With more than ten waiting, calls would exceed their time limit.
 */
export const searchLimits: FairLimits = { atOnceMax: 3, atOnceOfSpaceMax: 2, waitingOfUserMax: 10 };
