export const headersTimeoutMs = 10_000;
export const bodyTimeoutMs = 30_000;

/** An idle keep-alive connection is closed after this. Longer than the usual 60 s of a load balancer. */
export const keepAliveTimeoutMs = 65_000;

/** How often Node looks for connections that are past one of the limits above. */
export const timeoutCheckMs = 1_000;

/** Renewal tools replace a certificate some 30 days before it expires: with fewer left they have failed. */
export const certificateWarningDays = 14;

export const certificateCheckMs = 1_000;

/** How long a dependency may take to answer a readiness probe before it counts as unreachable. */
export const probeTimeoutMs = 1_000;

/** /readyz needs no key: dependencies are probed at most four times a second. */
export const readinessReuseMs = 250;

/**
 * Most bytes of a rejected body that are read before the answer. Without reading, a client that is still
 * writing sees a reset instead of the answer, takes it for a network failure and retries forever.
 */
export const unreadBodyBytesMax = 64 * 1024 * 1024;
export const unreadBodyTimeoutMs = 5_000;

/** Most rejected bodies that are read past a legal size at a time. Further clients see the reset. */
export const longUnreadBodiesMax = 16;

/** On shutdown: how long a client may take to finish its request. */
export const requestDrainTimeoutMs = 5_000;

/**
 * On shutdown of a process that shares its port, connections that it accepted just before are served for
 * several round trips: their first request is on its way, and other processes accept new ones.
 */
export const acceptedGraceMs = 500;

export const idleCheckMs = 50;

/** Concurrent HTTP/2 streams of a connection. RFC 9113 §6.5.2 recommends at least 100. */
export const http2StreamsMax = 100;

/**
 * Streams that a client may reset at once, and per second: a reset costs only the server (CVE-2023-44487).
 */
export const http2ResetsBurst = 100;
export const http2ResetsPerSecond = 10;

/** Most SETTINGS frames of a connection: clients send more when they adjust their window to the bandwidth. */
export const http2SettingsMax = 1_000;

/** How often a stream with a complete response and an incomplete request is checked for a sent END_STREAM. */
export const endStreamCheckMs = 10;

/** Largest header list of a request, the same as over HTTP/1.1. */
export const http2HeaderBytesMax = 16 * 1024;

/** The flow-control window of a stream with large bodies: with 64 KiB, the default, 4 MiB wait often. */
export const http2WindowBytes = 256 * 1024;

/** Most memory of the streams of a connection, in megabytes. */
export const http2SessionMegabytesMax = 32;
