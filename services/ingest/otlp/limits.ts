import { otlpBodyBytesMax } from '../../../platform/limits.ts';

/**
 * Most spans in one request. Each takes some 200 bytes of memory while the request is read, and 70 µs when it
 * becomes an event. Exporters send 512, a Collector 8,192.
 */
export const spansMax = 32 * 1024;

/** Most values in one span, nested ones included. It bounds the memory of one span. */
export const spanValuesMax = 256 * 1024;

/**
 * Most attributes of one span, and most of its events and of its links. OpenTelemetry's SDKs send 128 of
 * each.
 */
export const attributesMax = 64 * 1024;
export const spanEventsMax = 16 * 1024;

/**
 * Largest span that is mapped to an event of at most 4 MiB. A span in JSON with escapes can be several times
 * larger than its event.
 */
export const spanBytesMax = 8 * 1024 * 1024;

/**
 * Deepest nesting of lists and objects in an attribute. Protobuf libraries stop at 100 messages, which are 50
 * levels.
 */
export const attributeDepthMax = 64;

/**
 * Largest description of a resource or a scope, in characters of JSON. It is stored with each of its events:
 * a few large ones would turn one request into gigabytes.
 */
export const sourceCharsMax = 64 * 1024;

/** Shortest interval between two log lines with the counts of spans. */
export const spanCountsLogMs = 10_000;

/**
 * Most bytes of JSON that one request's events may have. Real requests produce about as many bytes as they
 * have.
 */
export const eventsBytesMax = 2 * otlpBodyBytesMax;

/**
 * Most senders that one request's spans are counted for. A program has one service and some libraries; a
 * Collector some services.
 */
export const sendersPerRequestMax = 100;

/** The counts of senders are written at most once in this time. */
export const senderFlushMs = 5_000;

/** Most senders of all spaces whose counts are held while Postgres is away. Each takes some 500 bytes. */
export const sendersHeldMax = 10_000;

/** What an SDK says of media before it uploads them takes some 400 bytes. */
export const announcementBytesMax = 64 * 1024;
