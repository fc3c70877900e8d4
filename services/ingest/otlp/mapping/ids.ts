import { hash } from 'node:crypto';
import { isSpanId } from '../../../../store/traces/span-tree.ts';
import type { Json } from '../../read/protobuf-struct.ts';
import { UnstorableError } from '../spans/span.ts';

const traceIdPattern = /^(?!0{32}$)[0-9a-f]{32}$/;

/** The prefix of the hashed bytes: a later scheme can use another one. */
const idVersion = Buffer.from('weir-otlp-1');

/**
 * The event id of a span. It depends on the span only, so that retries of an exporter and the fan-out of a Collector are
 * stored once.
 *
 * @param spanId the id of the span, or of its parent.
 */
export function eventIdOf(traceId: string, spanId: string): string {
  return toUuidV4(hash('sha256', Buffer.concat([idVersion, Buffer.from(traceId + spanId, 'hex')]), 'buffer'));
}

/** The `traceId` of a trace's events: the trace id with the six version and variant bits of a UUIDv4. */
export function traceUuidOf(traceId: string): string {
  return toUuidV4(Buffer.from(traceId, 'hex'));
}

/** A key of fixed size for values of programs, which may be long. */
export function hashOf(values: readonly Json[]): string {
  return toUuidV4(hash('sha256', JSON.stringify(values), 'buffer'));
}

export function isTraceId(text: string): boolean {
  return traceIdPattern.test(text);
}

/** @throws UnstorableError when an id is not valid in W3C Trace Context: no event id can be computed. */
export function checkIds({ traceId, spanId }: { traceId: string; spanId: string }): void {
  if (!isTraceId(traceId)) throw new UnstorableError('A span has no valid trace id.');
  if (!isSpanId(spanId)) throw new UnstorableError('A span has no valid span id.');
}

/** @param bytes of which the first 16 become the UUID. */
function toUuidV4(bytes: Buffer): string {
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex', 0, 16);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
