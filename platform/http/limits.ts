export const headersTimeoutMs = 10_000;
export const bodyTimeoutMs = 30_000;

/** Longer than the usual 60 s of a load balancer. */
export const keepAliveTimeoutMs = 65_000;

/** For the limits above. */
export const timeoutCheckMs = 1_000;

/** Renewal tools replace a certificate some 30 days before it expires: with fewer left they have failed. */
export const certificateWarningDays = 14;

export const certificateCheckMs = 1_000;

/** Then a dependency counts as unreachable. */
export const probeTimeoutMs = 1_000;

/** /readyz needs no key: dependencies are probed at most four times a second. */
export const readinessReuseMs = 250;

/**
 * Read of a rejected body before the answer. Without reading, a client that is still writing sees a reset
 * instead of the answer, takes it for a network failure and retries forever.
 */
export const unreadBodyBytesMax = 64 * 1024 * 1024;
export const unreadBodyTimeoutMs = 5_000;

/** Read past a legal size at a time. Further clients see the reset. */
export const longUnreadBodiesMax = 16;

/** For a client to finish its request on shutdown. */
export const requestDrainTimeoutMs = 5_000;

/**
 * On shutdown of a process that shares its port, connections that it accepted just before are served for
 * several round trips: their first request is on its way, and other processes accept new ones.
 */
export const acceptedGraceMs = 500;

export const idleCheckMs = 50;

/** Of a connection. RFC 9113 §6.5.2 recommends at least 100. */
export const http2StreamsMax = 100;

/**
 * Streams that a client may open and reset at once, and then each second: a reset costs the client nothing,
 * and the server a request (CVE-2023-44487).
 */
export const http2ResetsBurst = 100;
export const http2ResetsPerSecond = 10;

/** Of a connection: clients send more when they adjust their window to the bandwidth. */
export const http2SettingsMax = 1_000;

/** For a stream with a complete response and an incomplete request. */
export const endStreamCheckMs = 10;

/** As over HTTP/1.1. */
export const http2HeaderBytesMax = 16 * 1024;

/** Of a stream: with 64 KiB, the default, 4 MiB wait often. */
export const http2WindowBytes = 256 * 1024;

/** Of the streams of a connection. */
export const http2SessionMegabytesMax = 32;
