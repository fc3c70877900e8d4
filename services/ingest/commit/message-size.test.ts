import { zstdDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { someEvents } from '../../../harness/fixtures/events.ts';
import { columnNames } from '../../../lib/event/columns.ts';
import { splitElements } from '../../../lib/event/text.ts';
import { decodeGroup } from '../../../lib/queue/group.ts';
import { payloadBytesMin } from '../../../lib/queue/limits.ts';
import { cutEvents } from '../../../lib/segment/cut.ts';
import { heaviestBatches } from '../../../test/support/protocols/heaviest-batches.ts';
import { type BatchEncoding, unlimited } from '../read/batch-reader.ts';
import { createBatchReaders } from '../read/batch-readers.ts';
import { type CompressedBatch, compressBatch } from './compressed-batch.ts';
import { createMessage } from './group.ts';
import { countFitting, splitBatch } from './message-size.ts';

const readers = createBatchReaders('weir', unlimited);
const access = { keyId: 'key', spaceId: 'space', billingState: 'active', monthlyEventLimit: null } as const;

function compress(encoding: BatchEncoding, bytes: Buffer): Promise<CompressedBatch> {
  const { projection, body = bytes } = readers[encoding](bytes);
  return compressBatch(access, projection, { body, atMs: 0 });
}

const batchOf = (count: number) =>
  compress('json', Buffer.from(JSON.stringify({ events: someEvents(count) })));
const payloadOf = (...batches: CompressedBatch[]) => createMessage(batches).payload;

const heaviest = (['json', 'protobuf', 'protobufJson'] as const).flatMap(heaviestBatches);

test.each(heaviest)(
  '$name as $encoding fit into messages, whole and in order',
  async ({ encoding, events, bytes }) => {
    const batch = await compress(encoding, bytes);
    const pieces = splitBatch(batch, payloadBytesMin);
    const parts = pieces.flatMap((piece) => {
      const payload = payloadOf(piece);
      expect(payload.length).toBeLessThanOrEqual(payloadBytesMin);
      return decodeGroup(payload).parts;
    });
    expect(new Set(parts.map(({ segmentId }) => segmentId)).size).toBe(1);
    for (const name of columnNames) {
      expect(parts.map(({ columns }) => columns?.[name]).join(), name).toBe(batch.columns[name]);
    }
    for (const { body, columns, eventCount } of parts) {
      const [ids, indexes] = [splitElements(columns?.id ?? ''), splitElements(columns?.segmentIndex ?? '')];
      expect(ids).toHaveLength(eventCount);
      const texts = cutEvents(zstdDecompressSync(body), indexes.map(Number));
      for (const [i, index] of indexes.entries()) {
        expect(JSON.parse(texts.get(Number(index)) ?? '').id).toBe(ids[i]);
        expect(ids[i]).toBe(events[Number(index)]?.id);
      }
    }
  },
);

test('the columns of a protobuf batch need more than one message', async () => {
  const [largeColumns] = heaviestBatches('protobuf');
  const batch = await compress('protobuf', largeColumns?.bytes ?? Buffer.alloc(0));
  expect(payloadOf(batch).length).toBeGreaterThan(8 * 1024 ** 2);
  expect(splitBatch(batch, payloadBytesMin).length).toBeGreaterThan(1);
});

test('a batch that fits is one piece', async () => {
  for (const count of [3, 500]) {
    const batch = await batchOf(count);
    expect(splitBatch(batch, payloadBytesMin)).toEqual([batch]);
    // Here the estimate exceeds the size of a message, and the exact size does not.
    const pieces = splitBatch(batch, payloadOf(batch).length + 1_000);
    expect(pieces.map(({ eventCount }) => eventCount)).toEqual([count]);
  }
});

test('as many batches as fit share a message', async () => {
  const batches = await Promise.all([1, 2, 3, 4, 5].map(batchOf));
  const bytesMax = 20_000;
  const count = countFitting(batches, bytesMax);
  expect(count).toBeGreaterThan(1);
  expect(count).toBeLessThan(5);
  expect(payloadOf(...batches.slice(0, count)).length).toBeLessThanOrEqual(bytesMax);
  expect(countFitting(batches, 1)).toBe(1);
});
