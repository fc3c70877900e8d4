import { expect, test } from 'vitest';
import { beginningOf, type TailPosition } from '../../../lib/tail/position.ts';
import { liveMessageEventsMax, liveQueueEventsMax } from './limits.ts';
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
/** The queue looks at positions only. */
const eventsOf = (xid: number, count: number): LiveEvent[] =>
  Array.from({ length: count }, (_, i) => ({ event: {}, position: at(xid, i), matches: '1' }) as LiveEvent);

function openStream(budget = new QueueBudget(10_000)): LiveStream {
  const stream = new LiveStream({}, beginningOf('5', 0), budget);
  stream.isMember = true;
  return stream;
}

function takeAll(stream: LiveStream): TailPosition[] {
  const positions: TailPosition[] = [];
  for (let item = stream.take(); item !== undefined; item = stream.take()) {
    expect(item.events.length).toBeLessThanOrEqual(liveMessageEventsMax);
    expect(item.end).toBe(stream.position);
    positions.push(...item.events.map(({ position }) => position));
  }
  return positions;
}

test('a queue that is full ends the membership, and the position is that of what was taken', () => {
  const stream = openStream();
  const sent: LiveEvent[] = [];
  for (let xid = 5; stream.isMember; xid++) {
    const events = eventsOf(xid, 150);
    stream.receive(events, beginningOf(String(xid + 1), 0));
    if (stream.isMember) sent.push(...events);
  }
  expect(sent.length).toBeLessThanOrEqual(liveQueueEventsMax);
  stream.receive(eventsOf(99, 1), beginningOf('100', 0));
  expect(takeAll(stream)).toEqual(sent.map(({ position }) => position));
  expect(stream.position).toEqual(beginningOf(String(5 + sent.length / 150), 0));
});

test('positions without events do not grow the queue, and what was read before is dropped', () => {
  const stream = openStream();
  for (let xid = 6; xid < 10_000; xid++) stream.receive([], beginningOf(String(xid), 0));
  expect(stream.take()?.end).toEqual(beginningOf('9999', 0));
  expect(stream.take()).toBeUndefined();
  stream.receive(eventsOf(7, 3), beginningOf('8', 0));
  expect(stream.take()).toBeUndefined();
  stream.position = at(10_000, 1);
  stream.receive(eventsOf(10_000, 4), beginningOf('10001', 0));
  expect(takeAll(stream)).toEqual([at(10_000, 2), at(10_000, 3)]);
});

test('all streams share one budget, and give back what they hold when they close', () => {
  const budget = new QueueBudget(500);
  const [first, second] = [openStream(budget), openStream(budget)];
  first.receive(eventsOf(5, 400), beginningOf('6', 0));
  second.receive(eventsOf(5, 400), beginningOf('6', 0));
  expect([first.isMember, second.isMember]).toEqual([true, false]);
  first.close();
  const third = openStream(budget);
  third.receive(eventsOf(5, 500), beginningOf('6', 0));
  expect(third.isMember).toBe(true);
  takeAll(third);
  const fourth = openStream(budget);
  fourth.receive(eventsOf(5, 500), beginningOf('6', 0));
  expect(fourth.isMember).toBe(true);
});

test('a skip keeps its place between what came before and after it', () => {
  const stream = openStream();
  stream.receive(eventsOf(5, 250), beginningOf('6', 0));
  const lag = { events: 60_000, isAtLeast: false, edge: beginningOf('50', 0) };
  stream.skip(beginningOf('6', 0), lag);
  stream.receive(eventsOf(50, 2), beginningOf('51', 0));
  const items = [stream.take(), stream.take(), stream.take(), stream.take()];
  expect(items.map((item) => [item?.events.length, item?.skipped?.lag.events])).toEqual([
    [200, undefined],
    [50, undefined],
    [0, 60_000],
    [2, undefined],
  ]);
});
