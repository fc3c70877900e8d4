/** A live stream ends after this time, and its client reconnects: session and role are checked anew, as for any call. */
export const liveDurationMsMax = 5 * 60_000;

/** How often a live stream checks that its session and its role still exist. */
export const liveRecheckMs = 10_000;

/** A quiet live stream sends a ping this often; a client that receives nothing for the longer time reconnects. */
export const livePingMs = 5_000;
export const liveSilenceMsMax = 12_000;

/** A client that reads nothing of what is sent to it for this long is disconnected. */
export const liveStallMsMax = 60_000;

/** Live streams at a time: of one user, of one space, and of the process. A browser opens one a tab. */
export const liveStreamsPerUserMax = 250;
export const liveStreamsPerSpaceMax = 500;
export const liveStreamsMax = 1_000;

/**
 * Most events and bytes of one message. tRPC and Node hold a few messages for each client that does not read: 64 KiB keep that
 * below 256 MiB for all streams.
 */
export const liveMessageEventsMax = 200;
export const liveMessageBytesMax = 64 * 1024;

/** Most bytes of messages that wait for one slow client, and for all of them. Beyond, a stream skips. */
export const liveQueueBytesMax = 2 * 1024 ** 2;
export const liveQueuedBytesMax = 32 * 1024 ** 2;

/** How often a space with live streams is read when no writer reports new events. */
export const livePollMs = 1_000;

/** The shortest time between two reads of a space. */
export const liveReadMs = 200;

/**
 * The events of one read, times the streams of the space: some 40,000 a second. With many streams a space is read in smaller
 * pieces: its own streams wait then, those of other spaces do not.
 */
export const liveDeliveriesPerReadMax = 8_000;
export const liveEventsPerReadMin = 20;

/** A space whose streams would need longer than this to catch up at that pace skips to the newest events. */
export const liveLagMsMax = 30_000;

/** Reads for live streams at a time, of all spaces; and reads of streams that resume. */
export const liveReadsMax = 2;
export const liveCatchUpsMax = 2;

/** A quiet stream gets its position this often: a client that reconnects then resumes without a long search. */
export const livePositionMs = 10_000;

/** How often the dashboard tries to connect to nats-server, until it is there. */
export const noticeConnectMs = 5_000;
