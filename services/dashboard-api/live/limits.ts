/** A live stream ends after this time, and its client reconnects: session and role are checked anew, as for any call. */
export const liveDurationMsMax = 5 * 60_000;

/** How often a live stream checks that its session and its role still exist. */
export const liveRecheckMs = 10_000;

/** A quiet live stream sends a sign of life this often; a client that receives nothing for the longer time reconnects. */
export const livePingMs = 5_000;
export const liveSilenceMsMax = 12_000;

/** A client that reads nothing of what is sent to it for this long is disconnected. */
export const liveStallMsMax = 60_000;

/** Live streams at a time: of one session, of one space, and of the process. A browser opens one a tab. */
export const liveStreamsPerSessionMax = 250;
export const liveStreamsPerSpaceMax = 500;
export const liveStreamsMax = 1_500;

/** Most events of one message, and most bytes of messages that wait for one slow stream. All streams together hold a bounded number. */
export const liveMessageEventsMax = 200;
export const liveQueueBytesMax = 2 * 1024 ** 2;
export const liveQueuedBytesMax = 32 * 1024 ** 2;

/** How often a space with live streams is asked for new events when no writer reports any. */
export const livePollMs = 1_000;

/** While a transaction holds new events back, the space is asked again after this time, which doubles each time. */
export const liveHeldBackPollMs = 25;

/** New events that are held back for so long are reported to the streams as delayed. */
export const liveDelayedMs = 10_000;

/** A quiet stream gets its position this often: a client that reconnects then resumes without a long search. */
export const livePositionMs = 10_000;

/**
 * What live streams may cost, in milliseconds between two reads of a space, by what the last one did. It keeps all of them
 * together below a tenth of a core of the machine that the writer shares, whatever is stored: an event that is read takes
 * some 0.03 ms, its encoding for a filter 0.01 ms, its delivery to a stream 0.001 ms, a message 0.05 ms.
 */
export const liveCostsMs = { row: 0.1, encoding: 0.1, delivery: 0.01, message: 0.5 } as const;

/** What one read of a space may cost at most, while there are many streams: otherwise its events would come late. */
export const liveReadCostMsMax = 700;

/** A space whose streams would need longer than this to catch up at that pace skips to the newest events. */
export const liveLagMsMax = 30_000;

/** Streams that catch up by reads of their own, at a time. */
export const liveCatchUpsMax = 2;

/** How often the dashboard tries to connect to nats-server, until it is there. */
export const noticeConnectMs = 5_000;
