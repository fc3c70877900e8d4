import { zstdDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { columnNames } from '../../../event/columns.ts';
import { projectionVersion } from '../../../event/projection.ts';
import { cutEvents } from '../../../event/segment/cut.ts';
import { splitElements } from '../../../event/text.ts';
import { someEvents } from '../../../harness/fixtures/events.ts';
import { decodeGroup } from '../../../platform/queue/group.ts';
import { payloadBytesMin } from '../../../platform/queue/limits.ts';
import { heaviestBatches } from '../../../test/support/protocols/heaviest-batches.ts';
import { type BatchEncoding, unlimited } from '../read/batch-reader.ts';
import { createBatchReaders } from '../read/batch-readers.ts';
import { type CompressedBatch, compressBatch } from './compressed-batch.ts';
import { createMessage } from './group.ts';
import { countFitting, fitsMessage, splitBatch } from './message-size.ts';

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
  '$name as $encoding fit into messages, whole and in order, each with a segment of its own events',
  async ({ encoding, events, bytes }) => {
    const batch = await compress(encoding, bytes);
    const pieces = fitsMessage(batch, payloadBytesMin) ? [batch] : await splitBatch(batch, payloadBytesMin);
    const parts = pieces.flatMap((piece) => {
      const payload = payloadOf(piece);
      expect(payload.length).toBeLessThanOrEqual(payloadBytesMin);
      return decodeGroup(payload).parts;
    });
    expect(new Set(parts.map(({ segmentId }) => segmentId)).size).toBe(parts.length);
    for (const part of parts) expect(part.projection).toBe(projectionVersion);
    for (const name of columnNames.filter((one) => one !== 'segmentIndex')) {
      expect(parts.map(({ columns }) => columns?.[name]).join(), name).toBe(batch.columns[name]);
    }
    const own = cutEvents(batch.body, [...events.keys()]);
    let before = 0;
    for (const { body, rawBytes, columns, eventCount } of parts) {
      const raw = zstdDecompressSync(body);
      expect(raw).toHaveLength(Number(rawBytes));
      const indexes = [...Array(eventCount).keys()];
      expect(columns?.segmentIndex).toBe(indexes.join());
      expect(splitElements(columns?.id ?? '')).toEqual(indexes.map((index) => events[before + index]?.id));
      const texts = cutEvents(raw, [...indexes, eventCount]);
      expect([...texts.values()]).toEqual(indexes.map((index) => own.get(before + index)));
      before += eventCount;
    }
    expect(before).toBe(events.length);
  },
);

test('the columns of a protobuf batch need more than one message', async () => {
  const [largeColumns] = heaviestBatches('protobuf');
  const batch = await compress('protobuf', largeColumns?.bytes ?? Buffer.alloc(0));
  expect(payloadOf(batch).length).toBeGreaterThan(8 * 1024 ** 2);
  expect(fitsMessage(batch, payloadBytesMin)).toBe(false);
  expect((await splitBatch(batch, payloadBytesMin)).length).toBeGreaterThan(1);
});

test('a batch that fits is not split', async () => {
  for (const count of [3, 500]) {
    const batch = await batchOf(count);
    expect(fitsMessage(batch, payloadBytesMin)).toBe(true);
    // Here the estimate exceeds the size of a message, and the exact size does not.
    expect(fitsMessage(batch, payloadOf(batch).length + 1_000)).toBe(true);
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
