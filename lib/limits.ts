import { availableParallelism } from 'node:os';

/**
 * Every limit and time-out of Weir that is not the operator's to choose, with its reason.
 * What the operator chooses is in config.ts.
 */

/** How much of what ingest may hold one space may hold: a space that stalls leaves room for the others. */
export const spaceShareOfBudget = 0.75;

/** Largest request body, before and after decoding (contract §8). */
export const bodyBytesMax = 4 * 1024 * 1024;

/** What gRPC and gRPC-Web put before a message: a byte of flags and four of length. It is not part of the 4 MiB. */
export const envelopeBytes = 5;

/** Most events in one request (contract §8). */
export const eventsPerBatchMax = 500;

/** Deepest JSON nesting of a request body. Deeper is an attack or a bug; recursion stays bounded by it. */
export const jsonDepthMax = 512;

/** Times and durations lie within ±8.64e15 ms: the range of an ECMAScript date. */
export const timeMsMax = 8.64e15;

/** Longest `details` text, in characters: it quotes keys that a client chose. */
export const errorDetailsCharsMax = 500;

/**
 * Longest text kept in an indexed column, in characters; the segment keeps the whole. A Postgres B-tree refuses
 * entries over 2,704 bytes, and 256 characters of 4 bytes stay well below it.
 */
export const columnCharsMax = 256;

/** Length of the previews of input and output in the list of events, in characters. */
export const previewCharsMax = 64;

/** Largest additionalProperties kept as a column, in characters of JSON; larger ones are in the segment only. */
export const attributesCharsMax = 4 * 1024;

/**
 * What is read of a batch on the event loop, which serves everybody else meanwhile: 65,536 values take 20 to 90 ms, and to
 * say what is wrong in 64 KiB takes 10. A real batch of 4 MiB has 49,000 values. What is more is read on another thread.
 */
export const readOnLoop = { valuesMax: 64 * 1024, badBytesMax: 64 * 1024 };

/** Most such batches that are held at a time: each takes up to half a second, and counts against what ingest may hold. */
export const costlyBatchesMax = 4;

/** Memory of that thread, as V8 names it. The worst of 4 MiB needs 120 MB; with no limit V8 lets it grow to 700. */
export const readerHeap = { maxOldGenerationSizeMb: 160, maxYoungGenerationSizeMb: 4 };

/** Bodies from this size on are compressed alone, off the main thread; smaller ones share a segment. */
export const ownSegmentBytesMin = 64 * 1024;

/**
 * Most bytes of request bodies in one shared segment: opening one event reads its whole segment, so it must stay
 * a few milliseconds' work.
 */
export const sharedSegmentBytesMax = 4 * 1024 * 1024;

/**
 * Bytes kept free in a message below the server's max_payload, for headers and framing.
 */
export const messageOverheadBytes = 64 * 1024;

/** How large a message a legal body can need at worst: the body incompressible, and its columns beside it. */
export const messageBytesMin = bodyBytesMax + 3 * 1024 * 1024;

/**
 * How long ingest waits for a PubAck. A disk that is full or fails fsync answers with silence, and the client shall
 * have its 503 within 2 s; a slow one that takes 100 ms for an fsync stays far below.
 */
export const pubAckTimeoutMs = 1_500;

/**
 * After a reconnect the stream is compared with what it has acknowledged: a server may still be reading its log, so it
 * is looked at that often, that far apart, before it counts as a loss.
 */
export const queueLossLooks = 8;
export const queueLossLookMs = 250;

/** How long a batch waits for nats-server to come back before it is answered with 503. A restart takes about one. */
export const queueReturnTimeoutMs = 2_000;

/**
 * A nats-server that answers no ping is given up after two to three times this, and one that does not even greet after
 * the second: the next one is tried. Together they stay below the five seconds in which a cluster accepts again.
 */
export const queuePingMs = 700;
export const queueConnectTimeoutMs = 1_500;

/** How long a service that starts waits for a cluster of nats-servers to have a leader: an election takes 4 to 9 s. */
export const queueStartTimeoutMs = 30_000;

/** How often ingest looks whether the streams of a cluster are led from different nodes. */
export const leaderCheckMs = 2_000;

/** Seconds a client is asked to wait after a 503. */
export const retryAfterSeconds = 1;

/** How long a request's headers and its body may take to arrive. */
export const headersTimeoutMs = 10_000;
export const bodyTimeoutMs = 30_000;

/** An idle keep-alive connection is closed after this. Longer than the usual 60 s of a load balancer. */
export const keepAliveTimeoutMs = 65_000;

/** How long a browser may remember that a page of another origin may call us. Chromium remembers no longer. */
export const corsMaxAgeSeconds = 7_200;

/** HTTP/2: streams of one connection at a time, as its RFC recommends at least. */
export const http2StreamsMax = 100;

/**
 * Streams that a client may open and reset in a burst, and then a second, before its connection is closed: a reset
 * costs it nothing, and us a request (CVE-2023-44487).
 */
export const http2ResetsBurst = 100;
export const http2ResetsPerSecond = 10;

/** SETTINGS frames of one connection. Clients send a handful, those that measure the line a few more. */
export const http2SettingsMax = 1_000;

/** Largest block of request headers, as over HTTP/1.1. */
export const http2HeaderBytesMax = 16 * 1024;

/** How much of one body may be on its way unread. A window of 64 KiB, the default, makes a body of 4 MiB wait often. */
export const http2WindowBytes = 256 * 1024;

/** What the streams of one connection may hold in memory, in megabytes. */
export const http2SessionMegabytesMax = 32;

/** How often the files of the certificate are looked at. */
export const certificateCheckMs = 1_000;

/**
 * A refused body is read and thrown away up to these bounds before the answer: a client that still writes sees a
 * reset instead of the answer, takes it for a network failure and retries forever.
 */
export const discardBytesMax = 64 * 1024 * 1024;
export const discardTimeoutMs = 5_000;

/** Most refused bodies that are read past the size of a legal one at a time: others see the reset. */
export const longDiscardsMax = 16;

/** Most connections to ingest at a time, slow and silent ones too: each costs some 20 KB. What is more is closed. */
export const connectionsMax = 10_000;

/**
 * Most bodies decompressed at a time: on half of the cores, for bombs must leave some to everybody else. Each may become
 * 4 MiB before it counts against what ingest may hold, and works on one of the four threads that accepted batches are
 * compressed on as well.
 */
export const decodesAtOnceMax = Math.min(3, Math.max(1, Math.floor(availableParallelism() / 2)));

/** How long a good API key's answer is reused; a change in the database removes it at once. */
export const keyCacheMs = 30_000;

/** How long a bad API key's answer is reused. Short: a client drops its data on a 401. */
export const unknownKeyCacheMs = 2_000;

/** Most bad API keys remembered; the oldest leaves first. */
export const unknownKeysMax = 10_000;

/** How long ingest waits for Postgres to know an API key before it answers 503. */
export const keyLookupTimeoutMs = 2_000;

/** Most API keys never seen before that ingest asks Postgres about at a time, of its four connections. */
export const strangersAtOnceMax = 2;

/** `last_used_at` of an API key is written at most once in this time. */
export const keyLastUseFlushMs = 60_000;

/** How old ingest's view of the usage of a space with a quota may be. */
export const usageCacheMs = 500;

/** How long a request at the edge of its quota waits for the queue to be counted, before it is let through. */
export const quotaSettleTimeoutMs = 2_000;

/**
 * The consumer redelivers what was not acknowledged in this time: so long what a killed writer held stays unseen. A
 * writer that is alive renews it (ADR 0006).
 */
export const ackWaitMs = 10_000;

/** Most messages handed to writers and not yet acknowledged. */
export const ackPendingMax = 256;

/** Most bytes one pull of the writer asks for: what its memory is planned for. More than the largest message. */
export const pullBytesMax = 9 * 1024 * 1024;

/** A pull that nothing arrives for ends after this, and the next one begins. */
export const pullExpiresMs = 2_000;

/** A consumer that nobody leads refuses pulls at once: so long until the next one. */
export const pullRetryMs = 250;

/** A consumer that gave no sign for so long, two pulls, is looked for by way of another nats-server. */
export const pullSilenceMaxMs = 4_400;

/** How often the writer looks for stored messages that did not leave the queue, and how often it finds them before it acts. */
export const residueLookMs = 2_000;
export const residueLooks = 2;

/** How many events the writer puts into one statement, when that many are waiting. */
export const eventsPerStatementMax = 1_000;

/** How many bytes of segments the writer puts into one statement. */
export const statementBytesMax = 4 * 1024 * 1024;

/** A statement that Postgres does not finish in this time is cancelled, and its messages are delivered again. */
export const statementTimeoutMs = 30_000;

/** A Postgres that has not even cancelled a statement so long after its time is gone, and the connection with it. */
export const postgresGraceMs = 2_000;

/**
 * How often ingest makes sure that it would hear of access changes, and how long the answer may take: what a connection
 * that died in silence hides of them is hidden no longer than both.
 */
export const listenCheckMs = 5_000;
export const listenAnswerMs = 2_000;

/** Most bytes of log entries that wait for an output that takes none. */
export const logBytesWaitingMax = 1024 * 1024;

/** How long a service may take to finish what it has begun after SIGTERM. */
export const drainTimeoutMs = 10_000;

/** How long a client may take, of that time, to finish a request. What it has finished is answered far sooner. */
export const requestDrainTimeoutMs = 5_000;

/** A sign-in to the dashboard lasts this long. */
export const sessionTtlMs = 30 * 24 * 60 * 60 * 1_000;

/** Tries to sign in with one e-mail address from one network address in one window, before 429. */
export const signInTriesMax = 10;
export const signInWindowMs = 15 * 60 * 1_000;

/** Most pairs of e-mail and network address whose tries are counted; the oldest leaves first. */
export const signInPairsMax = 10_000;

/** Most passwords checked at a time: each costs 9 MiB and 25 ms of a core, and anybody may ask. */
export const signInsAtOnceMax = 8;

/** Longest e-mail address (RFC 5321), and longest password: hashing reads all of it. */
export const emailCharsMax = 254;
export const passwordCharsMax = 1_024;

/** Largest body of a request to the dashboard API, and most calls that a client may put into one request. */
export const dashboardBodyBytesMax = 64 * 1024;
export const dashboardCallsMax = 20;

/** Connections of the dashboard API's pools. A list takes a few milliseconds: eight answer a thousand a second. */
export const dashboardConnectionsMax = 8;

/** Postgres cancels a query of the dashboard after this; the time range was too wide. */
export const dashboardQueryTimeoutMs = 10_000;

/** A call that has no result by then is answered with 503: Postgres hangs, and cannot cancel by itself. */
export const dashboardCallTimeoutMs = 12_000;

/** How often a watcher of the gRPC health service is told of a change, at most. */
export const healthWatchMs = 1_000;

/** Largest message to the health service: it holds a name. */
export const healthMessageBytesMax = 4 * 1024;

/** How long /readyz waits for Postgres. */
export const readinessTimeoutMs = 2_000;

/** Events in one page of the list. */
export const eventsPageDefault = 50;
export const eventsPageMax = 200;

/**
 * Events opened at a time: each unpacks a segment of up to 4 MiB and scans it on the main thread, so more of them take
 * memory and are no faster.
 */
export const eventsOpenedAtOnceMax = 2;

/** How far a duration may lie from end minus start before the event is flagged: clients round to milliseconds. */
export const durationToleranceMs = 1;

/** Segments read at once for one answer. Each is up to 4 MiB when unpacked, and is let go once its events are cut. */
export const segmentReadsMax = 4;

/**
 * How many events `weir events` reads at once, unless their text exceeds the bytes below. Many, because events that
 * started together may each be in another segment, and every page unpacks every segment that it touches.
 */
export const printedEventsPage = 5_000;
export const printedCharsMax = 64 * 1024 * 1024;

/** How long `weir send` waits for an answer. Longer than a slow line needs for 4 MiB; ingest gives up much earlier. */
export const sendTimeoutMs = 30_000;

/**
 * How long `weir send` goes on trying one batch. A crashed service is back within seconds; a minute and a half also
 * outlasts a restart of the whole machine's services, and still ends when nothing will ever answer.
 */
export const sendRetryForMs = 90_000;

/** The waits between tries grow from the first to the second of these. */
export const sendBackoffMinMs = 100;
export const sendBackoffMaxMs = 5_000;

/** The longest Retry-After that is followed: a proxy that asks for an hour must not make a client look dead. */
export const retryAfterMaxMs = 30_000;

/** Most different errors kept for the summary of `weir send`; each may quote a part of the client's own input. */
export const sendErrorsMax = 100;

/** The longest answer to a request that `weir send` reads: errors are below 1 KB, anything longer is no answer of ingest. */
export const answerBytesMax = 64 * 1024;
