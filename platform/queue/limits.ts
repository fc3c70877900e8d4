import { bodyBytesMax } from '../limits.ts';

/** Largest message, even with a larger max_payload: a writer pulls little more at a time. */
export const messageBytesMax = 8 * 1024 * 1024;

/** Reserved for headers and framing. */
export const messageOverheadBytes = 64 * 1024;

/** Room for the largest compressed body, 5.3 MB (ADR 0010), and columns. A batch that needs more is split. */
export const payloadBytesMin = bodyBytesMax + 3 * 1024 * 1024;

/**
 * Wait for a stream's PubAck (with two streams, both are tried: ADR 0012). nats-server sends none when its
 * disk is full or an fsync fails, and the client should get its 503 within 2 s. A slow disk with 100 ms per
 * fsync stays far below.
 */
export const pubAckTimeoutMs = 1_500;

/**
 * Checks after which a sequence below the highest PubAck is a loss: a restarted server may be reading files.
 */
export const lossChecksMax = 8;
export const lossCheckIntervalMs = 250;

/** A batch's wait for a reconnect, before ingest answers 503. A restart of nats-server takes about 1 s. */
export const reconnectTimeoutMs = 2_000;

/**
 * A connection is closed after two unanswered pings, two to three intervals, and an attempt to connect fails
 * after the connect time-out. Together they stay below the 5 s within which a cluster must accept again.
 */
export const queuePingMs = 700;
export const queueConnectTimeoutMs = 1_500;

/** How long a starting service waits for the cluster to have a leader. An election takes 4 to 9 s. */
export const queueStartTimeoutMs = 30_000;

export const leaderCheckMs = 2_000;

/** The events of a killed writer stay invisible for that long. A running writer renews it (ADR 0006). */
export const ackWaitMs = 10_000;

/**
 * Delivered and not yet acknowledged. Messages that were nak'd with a delay count, such as those of a space
 * whose rows are locked: a lower limit would let them block all other spaces.
 */
export const ackPendingMax = 4_096;

/**
 * Most pending messages on Citus, for all spaces of a failed node: a minute and a half of 350 messages a
 * second. Elsewhere the lower limit lets an older version still start.
 */
export const clusterAckPendingMax = 32_768;

/** Services answer within milliseconds unless very busy. */
export const discoveryMs = 1_000;
