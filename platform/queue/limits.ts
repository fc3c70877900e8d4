import { bodyBytesMax } from '../limits.ts';

/**
 * The largest message that is published, even when a server's max_payload is larger: a writer pulls little
 * more than this at a time, and a larger message would never be delivered.
 */
export const messageBytesMax = 8 * 1024 * 1024;

/** Bytes of a message's limit that are reserved for its headers and framing. */
export const messageOverheadBytes = 64 * 1024;

/**
 * The smallest payload that a server must accept: room for the largest compressed body, 5.3 MB (ADR 0010),
 * and for columns. A batch whose columns need more is split.
 */
export const payloadBytesMin = bodyBytesMax + 3 * 1024 * 1024;

/**
 * How long ingest waits for a PubAck of one stream. nats-server sends none when its disk is full or an fsync
 * fails, and with one stream the client should get its 503 within 2 s (with two streams, both are tried: ADR
 * 0012). A slow disk with 100 ms per fsync stays far below.
 */
export const pubAckTimeoutMs = 1_500;

/**
 * After a reconnect the stream's last sequence is compared with the highest PubAck. A restarted server may
 * still be reading its files, so a lower sequence counts as a loss only after this many checks at this
 * interval.
 */
export const lossChecksMax = 8;
export const lossCheckIntervalMs = 250;

/**
 * How long a batch waits for a reconnect before ingest answers 503. A restart of nats-server takes about 1 s.
 */
export const reconnectTimeoutMs = 2_000;

/**
 * A connection is closed when two pings in a row stay unanswered, that is after two to three ping intervals.
 * An attempt to connect fails after the connect time-out, and the next server is tried. Together they stay
 * below the 5 s within which a cluster must accept again.
 */
export const queuePingMs = 700;
export const queueConnectTimeoutMs = 1_500;

/** How long a starting service waits for the cluster to have a leader. An election takes 4 to 9 s. */
export const queueStartTimeoutMs = 30_000;

/** How often ingest checks that the two streams of a cluster have their leaders on different nodes. */
export const leaderCheckMs = 2_000;

/**
 * The consumer redelivers a message that was not acknowledged within this time, so the events of a killed
 * writer stay invisible for that long. A running writer renews it (ADR 0006).
 */
export const ackWaitMs = 10_000;

/**
 * Most messages that are delivered to writers and not yet acknowledged. Messages that were nak'd with a delay
 * count, for example those of a space whose rows are locked: with a lower limit they would block the messages
 * of all other spaces.
 */
export const ackPendingMax = 4_096;

/**
 * The same on a Citus cluster, where messages of all spaces of a failed node wait: a minute and a half of 350
 * messages a second. Other systems keep the lower limit, with which an older version still starts.
 */
export const clusterAckPendingMax = 32_768;

/** How long service discovery waits for services, which answer within milliseconds unless very busy. */
export const discoveryMs = 1_000;
