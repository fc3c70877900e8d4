import { randomUUID, randomUUIDv7 } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { PartSchema } from '../../gen/weir/queue/v1/queue_pb.ts';
import { requireWellFormed } from './well-formed.ts';

const ids = [randomUUID(), randomUUID()];
const uuid = (): string => randomUUIDv7();
const good = {
  spaceId: uuid(),
  apiKeyId: uuid(),
  segmentId: uuid(),
  receivedAtMs: 1_760_000_000_000n,
  rawBytes: 1_000n,
  eventCount: 2,
  columns: { id: ids.join(',') },
  terms: '',
  queueStream: 'WEIR_LOG',
  queueSequence: 7n,
};
const check = (change: Partial<typeof good>) => requireWellFormed(create(PartSchema, { ...good, ...change }));

test('a part from ingest is well-formed', () => {
  expect(() => check({})).not.toThrow();
  expect(() => check({ terms: '-9223372036854775808,0,12' })).not.toThrow();
  expect(() => check({ eventCount: 1, columns: { id: ids[0] ?? '' } })).not.toThrow();
});

test.each<[string, Partial<typeof good>]>([
  ['space_id', { spaceId: 'nobody' }],
  ['api_key_id', { apiKeyId: '' }],
  ['segment_id', { segmentId: `${good.segmentId}\n` }],
  ['received_at_ms', { receivedAtMs: -1n }],
  ['received_at_ms', { receivedAtMs: 300_000_000_000_000n }],
  ['raw_bytes', { rawBytes: 2n ** 31n }],
  ['event_count', { eventCount: 0, columns: { id: '' } }],
  ['event_count', { eventCount: 4_000_000_000 }],
  ['event_count', { columns: { id: '' } }],
  ['an id', { columns: { id: ids.join(',').toUpperCase() } }],
  ['an id', { columns: { id: ids.join(';') } }],
  ['terms', { terms: '1,2}' }],
  ['queue_stream', { queueStream: 'a,b' }],
  ['queue_sequence', { queueSequence: 2n ** 63n }],
])('a part with a wrong %s is named as such', (field, change) => {
  expect(() => check(change)).toThrow(`malformed part: ${field}`);
});
