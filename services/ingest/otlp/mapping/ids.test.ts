import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { mapRequests } from '../../../../test/support/otlp/mapped-spans.ts';
import { eventIdOf, traceUuidOf } from './ids.ts';

const attributes = { 'gen_ai.operation.name': 'chat' };

test('the id of an event is the hash of the ids of its span that ADR 0015 specifies', () => {
  const [traceId, spanId] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
  const hash = createHash('sha256')
    .update('weir-otlp-1')
    .update(Buffer.from(traceId + spanId, 'hex'))
    .digest();
  const bytes = hash.subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  expect(eventIdOf(traceId, spanId).replaceAll('-', '')).toBe(bytes.toString('hex'));
  // This value must never change: stored ids depend on it.
  expect(eventIdOf(traceId, spanId)).toBe('cd1b8cd2-1dc5-4c92-8e2b-3bc441ae0f1e');
});

test('the trace id keeps all but six of its bits', () => {
  expect(traceUuidOf('ffffffffffffffffffffffffffffffff')).toBe('ffffffff-ffff-4fff-bfff-ffffffffffff');
  expect(traceUuidOf('00000000000000000000000000000001')).toBe('00000000-0000-4000-8000-000000000001');
});

test('spans without valid ids are rejected, and the others are stored', () => {
  const { counts, rejection, events } = mapRequests({
    spans: [
      { attributes },
      { attributes, traceId: '' },
      { attributes, traceId: '0'.repeat(32) },
      { attributes, spanId: '0'.repeat(16) },
      { attributes, spanId: 'abcd' },
      // Other spans are filtered, even with invalid ids.
      { traceId: '' },
    ],
  });
  expect(counts).toEqual({ stored: 1, rejected: 4, filtered: { not_genai: 1 } });
  expect(rejection).toBe('A span has no valid trace id.');
  expect(events).toHaveLength(1);
});
