import type { SlotLimits } from '../fair-slots.ts';

/** A stream ends after this time, and its client reconnects, which checks session and role like any call. */
export const liveDurationMsMax = 5 * 60_000;

/** How often a live stream checks that its session and role are still valid. */
export const liveRecheckMs = 10_000;

/** A revoked read key must end its streams within a second. */
export const liveKeyRecheckMs = 500;

/** How long after a check of a caller's access its other streams take the same result. */
export const liveCheckSharedMs = 200;

/** Streams that are opened at once, over all callers: hundreds at once would be one long turn of the loop. */
export const liveOpeningMax = 16;

/** Interval of pings on an idle live stream, and the silence after which a client reconnects. */
export const livePingMs = 5_000;
export const liveSilenceMsMax = 12_000;

/** A client that does not read sent data for this long is disconnected. */
export const liveStallMsMax = 60_000;

/** Concurrent live streams of the process, of one person, and of one space. A browser opens one per tab. */
export const liveStreamLimits: SlotLimits = {
  slotsMax: 1_000,
  ofHolderMax: 250,
  ofSpaceMax: 500,
  noun: 'open live streams',
};

/** tRPC and Node buffer a few messages for each client that does not read: below 256 MiB for all streams. */
export const liveMessageEventsMax = 200;
export const liveMessageBytesMax = 64 * 1024;

/** Queued for one slow client, and for all. Beyond that, a stream skips events. */
export const liveQueueBytesMax = 2 * 1024 ** 2;
export const liveQueuedBytesMax = 32 * 1024 ** 2;

/**
 * Poll interval for events that no writer notified, and for deleted spaces, whose streams end in a second.
 */
export const livePollMs = 500;

/** A read that takes longer makes its streams delayed, which they say. */
export const liveLateMs = 3_000;

/** Minimum interval between two reads of a space. */
export const liveReadMs = 200;

/**
 * Events per read times streams of the space: some 40,000 deliveries a second. With many streams a space is
 * read in smaller pages, so its own streams fall behind, not those of other spaces.
 */
export const liveDeliveriesPerReadMax = 8_000;
export const liveEventsPerReadMin = 20;

/** A space whose streams are further behind at that rate skips to the newest events. */
export const liveLagMsMax = 30_000;

/** Concurrent reads for live streams over all spaces, and concurrent reads of resuming streams. */
export const liveReadsMax = 2;
export const liveCatchUpsMax = 2;

/** How often an idle stream gets its position, so that a client resumes without a long search. */
export const livePositionMs = 10_000;

/** Interval of attempts to connect to nats-server until one succeeds. */
export const noticeConnectMs = 5_000;
