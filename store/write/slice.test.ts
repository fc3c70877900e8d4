import { randomUUIDv7 } from 'node:crypto';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { create } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { projectEvents } from '../../event/projection.ts';
import { splitElements } from '../../event/text.ts';
import { compileBatchRules } from '../../event/validate.ts';
import { PartSchema } from '../../gen/weir/queue/v1/queue_pb.ts';
import { llmEvent, toolEvent } from '../../harness/fixtures/events.ts';
import { isSliceOf, slicePart } from './slice.ts';

const events = [llmEvent(), toolEvent({ context: { threadId: 'a,"b\\' } }), llmEvent(), toolEvent()];
const { eventCount, columns } = projectEvents(compileBatchRules('weir').validateBatch({ events }));
const body = Buffer.from(JSON.stringify({ events }, null, 1));
const segmentId = randomUUIDv7();
const part = create(PartSchema, {
  segmentId,
  eventCount,
  columns,
  rawBytes: BigInt(body.length),
  body: zstdCompressSync(body),
});

test('a slice has the columns and the bytes of only its events', () => {
  const slice = slicePart(part, 1, 3);
  expect(slice.eventCount).toBe(2);
  expect(slice.columns?.segmentIndex).toBe('1,2');
  const text = zstdDecompressSync(slice.body).toString();
  expect(JSON.parse(text)).toEqual({ events: [0, ...events.slice(1, 3), 0] });
  expect(Number(slice.rawBytes)).toBe(Buffer.byteLength(text));
  expect(splitElements(slice.columns?.id ?? '')).toEqual([events[1]?.id, events[2]?.id]);
  expect(splitElements(slice.columns?.threadId ?? '')).toEqual(['"a,\\"b\\\\"', '"thread-1"']);
});

test('the segment id of a slice has the same millisecond, is equal at every attempt, and is unique', () => {
  const [first, again, second] = [0, 0, 1].map((at) => slicePart(part, at, at + 1).segmentId);
  expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(first?.slice(0, 13)).toBe(segmentId.slice(0, 13));
  expect(again).toBe(first);
  expect(new Set([first, second, segmentId]).size).toBe(3);
  expect([first, second, segmentId].every((id) => isSliceOf(segmentId, id ?? ''))).toBe(true);
  expect(isSliceOf(segmentId, randomUUIDv7())).toBe(false);
});

test('a slice of a damaged segment keeps its bytes, so that it can be repaired', () => {
  const body = Buffer.from('damaged');
  expect(slicePart(create(PartSchema, { ...part, body }), 2, 3)).toMatchObject({
    eventCount: 1,
    body,
    columns: { segmentIndex: '2' },
  });
});
