import { hash } from 'node:crypto';
import type { Json } from '../../../../event/json/json-value.ts';
import { isSpanId } from '../../../../store/traces/span-tree.ts';
import { UnstorableError } from '../spans/span.ts';

const traceIdPattern = /^(?!0{32}$)[0-9a-f]{32}$/;

/** What is hashed for an id. A later scheme can use another prefix. */
const idVersion = 'weir-otlp-1';
const hashed = Buffer.alloc(idVersion.length + 24, idVersion);

/**
 * The event id of a span. It depends on the span only, so that retries of an exporter and the fan-out of a
 * Collector are stored once.
 * @param spanId the id of the span, or of its parent.
 */
export function eventIdOf(traceId: string, spanId: string): string {
  hashed.write(traceId + spanId, idVersion.length, 'hex');
  return toUuidV4(hash('sha256', hashed, 'hex'));
}

/** The `traceId` of a trace's events: the trace id with the six version and variant bits of a UUIDv4. */
export function traceUuidOf(traceId: string): string {
  return toUuidV4(traceId);
}

/** A key of fixed size for values of programs, which may be long. */
export function hashOf(values: readonly Json[]): string {
  return toUuidV4(hash('sha256', JSON.stringify(values), 'hex'));
}

export function isTraceId(text: string): boolean {
  return traceIdPattern.test(text);
}

/** @throws UnstorableError when an id is not valid in W3C Trace Context: no event id can be computed. */
export function checkIds({ traceId, spanId }: { traceId: string; spanId: string }): void {
  if (!isTraceId(traceId)) throw new UnstorableError('A span has no valid trace id.');
  if (!isSpanId(spanId)) throw new UnstorableError('A span has no valid span id.');
}

/** @param hex in lower case, of which the first 32 digits become the UUID. */
function toUuidV4(hex: string): string {
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
