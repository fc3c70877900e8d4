import { otlpBodyBytesMax } from '../../../lib/limits.ts';

/**
 * Most spans in one request. Each takes some 200 bytes of memory while the request is read, and 70 µs when it becomes an
 * event. Exporters send 512, a Collector 8,192.
 */
export const spansMax = 32 * 1024;

/** Most values in one span, nested ones included: what it takes to hold one span in memory is bounded by it. */
export const spanValuesMax = 256 * 1024;

/** Most attributes of one span, and most of its events and of its links. OpenTelemetry's SDKs send 128 of each. */
export const attributesMax = 64 * 1024;
export const spanEventsMax = 16 * 1024;

/** Largest span that is tried as an event, which may have 4 MiB: escaped as JSON it can have six times its bytes. */
export const spanBytesMax = 8 * 1024 * 1024;

/** Deepest nesting of lists and objects in an attribute. Protobuf libraries end at 100 messages, which are 50 levels. */
export const attributeDepthMax = 64;

/** Deepest nesting of JSON that an attribute holds as text and that is stored as JSON. Deeper JSON stays text. */
export const embeddedDepthMax = 256;

/**
 * Largest description of a resource or a scope, in characters of JSON. It is stored with each of its events: a few large
 * ones would make gigabytes of one request.
 */
export const sourceCharsMax = 64 * 1024;

/** How often the counts of spans are logged, at most. */
export const spanCountsLogMs = 10_000;

/** Most JSON that is made of one request. Real requests make about as much as they have bytes. */
export const eventsBytesMax = 2 * otlpBodyBytesMax;
