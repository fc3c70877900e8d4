import { expect, test } from 'vitest';
import { beginningOf, formatPosition, type TailPosition } from '../../../lib/tail/position.ts';
import { EncodedMessage } from './encoded-message.ts';
import { liveMessageEventsMax, liveQueueBytesMax } from './limits.ts';
import { type LiveBatch, toBatches } from './live-batch.ts';
import { skippedMessage } from './live-message.ts';
import type { LiveEvent } from './live-page.ts';
import { LiveStream } from './live-stream.ts';
import { QueueBudget } from './queue-budget.ts';

const segmentId = '01900000-0000-7000-8000-000000000000';
const at = (xid: number, segmentIndex: number): TailPosition => ({
  xid: String(xid),
  segmentId,
  segmentIndex,
  atSeconds: 0,
});
const end = (xid: number) => beginningOf(String(xid), 0);
/** Batches of a transaction. The queue looks at positions and bytes only: an event is its own position here. */
function batchesOf(xid: number, count: number, padding = ''): LiveBatch[] {
  const events = Array.from(
    { length: count },
    (_, i) =>
      ({ event: { id: `${xid}.${i}`, padding }, position: at(xid, i), matches: '1' }) as unknown as LiveEvent,
  );
  return toBatches(events, end(xid + 1));
}
const idsOf = (xid: number, from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => `${xid}.${from + i}`);
const bytesOf = (batches: readonly LiveBatch[]) =>
  batches.reduce((sum, batch) => sum + (batch.after(end(0))?.bytes.length ?? 0), 0);

function openStream(budget = new QueueBudget(100 * liveQueueBytesMax)): LiveStream {
  const stream = new LiveStream({}, end(5), budget);
  stream.isMember = true;
  return stream;
}

function takeAll(stream: LiveStream): string[] {
  const ids: string[] = [];
  for (let message = stream.take(); message !== undefined; message = stream.take()) {
    const sent = message.toJSON();
    if (sent.type !== 'events') continue;
    expect(sent.events.length).toBeLessThanOrEqual(liveMessageEventsMax);
    ids.push(...sent.events.map(({ id }) => id));
  }
  return ids;
}

test('a queue that is full ends the membership, and the position is that of what was taken', () => {
  const stream = openStream();
  const sent: string[] = [];
  let bytes = 0;
  let xid = 5;
  for (; ; xid++) {
    const batches = batchesOf(xid, 150, 'x'.repeat(500));
    stream.receive(batches, end(xid + 1));
    if (!stream.isMember) break;
    bytes += bytesOf(batches);
    sent.push(...idsOf(xid, 0, 150));
  }
  expect(bytes).toBeLessThanOrEqual(liveQueueBytesMax);
  expect(bytes).toBeGreaterThan(liveQueueBytesMax / 2);
  stream.receive(batchesOf(99, 1), end(100));
  expect(takeAll(stream)).toEqual(sent);
  expect(stream.position).toEqual(end(xid));
});

test('a message of a page that does not fit whole ends it there, and the rest is read again', () => {
  const budget = new QueueBudget(bytesOf(batchesOf(5, 300).slice(0, 1)));
  const stream = openStream(budget);
  stream.receive(batchesOf(5, 300), end(6));
  expect(stream.isMember).toBe(false);
  expect(takeAll(stream)).toEqual(idsOf(5, 0, 200));
  expect(stream.position).toEqual(at(5, 199));
});

test('positions without events do not grow the queue, and what was read before is dropped', () => {
  const stream = openStream();
  for (let xid = 6; xid < 10_000; xid++) stream.receive([], end(xid));
  expect(stream.take()).toBeUndefined();
  expect(stream.position).toEqual(end(9_999));
  stream.receive(batchesOf(7, 3), end(8));
  expect(stream.take()).toBeUndefined();
  stream.position = at(10_000, 1);
  stream.receive(batchesOf(10_000, 4), end(10_001));
  expect(takeAll(stream)).toEqual(idsOf(10_000, 2, 4));
});

test('streams share the message of a batch, and one that has read a part of it gets the rest', () => {
  const [first, second, ahead] = [openStream(), openStream(), openStream()];
  ahead.position = at(5, 1);
  const batches = batchesOf(5, 4);
  for (const stream of [first, second, ahead]) stream.receive(batches, end(6));
  const message = first.take();
  expect(second.take()?.bytes).toBe(message?.bytes);
  expect(takeAll(ahead)).toEqual(idsOf(5, 2, 4));
});

test('all streams share one budget, in which a shared message counts once, and give back what they hold when they close', () => {
  const batches = batchesOf(5, 100);
  const budget = new QueueBudget(bytesOf(batches));
  const [first, second, third] = [openStream(budget), openStream(budget), openStream(budget)];
  first.receive(batches, end(6));
  second.receive(batches, end(6));
  third.receive(batchesOf(5, 1), end(6));
  expect([first.isMember, second.isMember, third.isMember]).toEqual([true, true, false]);
  first.close();
  const early = openStream(budget);
  early.receive(batchesOf(5, 1), end(6));
  expect(early.isMember).toBe(false);
  expect(takeAll(second)).toEqual(idsOf(5, 0, 100));
  const late = openStream(budget);
  late.receive(batchesOf(5, 100), end(6));
  expect(late.isMember).toBe(true);
});

test('a skip keeps its place between what came before and after it', () => {
  const stream = openStream();
  stream.receive(batchesOf(5, 250), end(6));
  const lag = { events: 60_000, isAtLeast: false, edge: end(50) };
  stream.skip(new EncodedMessage(lag.edge, skippedMessage(end(6), lag)));
  stream.receive(batchesOf(50, 2), end(51));
  const messages = [stream.take(), stream.take(), stream.take(), stream.take()].map((message) =>
    message?.toJSON(),
  );
  expect(messages.map((message) => (message?.type === 'events' ? message.events.length : message))).toEqual([
    200,
    50,
    {
      type: 'skipped',
      skipped: {
        events: 60_000,
        isAtLeast: false,
        after: formatPosition(end(6)),
        until: formatPosition(end(50)),
      },
    },
    2,
  ]);
});
