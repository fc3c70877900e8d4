import { create } from '@bufbuild/protobuf';
import { expect, onTestFinished, test, vi } from 'vitest';
import { PartSchema } from '../../gen/weir/queue/v1/queue_pb.ts';
import { Backlog } from './backlog.ts';

const groupOf = (...eventCounts: readonly number[]) => ({
  parts: eventCounts.map((eventCount) => create(PartSchema, { eventCount })),
  traceNodes: [],
});

const messagesOf = async (taken: ReturnType<Backlog<string>['take']>) =>
  (await taken)?.map(({ message }) => message);

/** Whether a promise has settled by now. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol();
  await new Promise(setImmediate);
  return (await Promise.race([promise, Promise.resolve(pending)])) !== pending;
}

test('waiting messages are taken together, up to the bounds of one statement', async () => {
  const backlog = new Backlog<string>(100, 1_000);
  for (const name of ['a', 'b', 'c']) backlog.add(name, groupOf(40), 10);
  backlog.add('large', groupOf(1), 5_000);
  expect(await messagesOf(backlog.take())).toEqual(['a', 'b']);
  expect(await messagesOf(backlog.take())).toEqual(['c']);
  expect(await messagesOf(backlog.take())).toEqual(['large']);
});

test('a message beyond the bounds is taken alone', async () => {
  const backlog = new Backlog<string>(100, 1_000);
  backlog.add('large', groupOf(400, 100), 9_999);
  expect((await backlog.take())?.flatMap((entry) => entry.parts)).toHaveLength(2);
});

test('take resolves with the first message, without waiting for a second one', async () => {
  const backlog = new Backlog<string>(100, 1_000);
  const taken = backlog.take();
  expect(await isSettled(taken)).toBe(false);
  backlog.add('a', groupOf(1), 1);
  expect(await messagesOf(taken)).toEqual(['a']);
});

test('with a time to gather, the first message is taken at once, those that follow together, and a full statement at once', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const backlog = new Backlog<string>(100, 1_000, 250);
  backlog.add('first', groupOf(1), 1);
  expect(await messagesOf(backlog.take())).toEqual(['first']);
  const taken = backlog.take();
  backlog.add('a', groupOf(1), 1);
  vi.advanceTimersByTime(249);
  backlog.add('b', groupOf(1), 1);
  expect(await isSettled(taken)).toBe(false);
  vi.advanceTimersByTime(1);
  expect(await messagesOf(taken)).toEqual(['a', 'b']);
  backlog.add('many events', groupOf(100), 1);
  expect(await messagesOf(backlog.take())).toEqual(['many events']);
  backlog.add('many bytes', groupOf(1), 1_000);
  expect(await messagesOf(backlog.take())).toEqual(['many bytes']);
  const last = backlog.take();
  backlog.add('c', groupOf(1), 1);
  expect(backlog.close()).toEqual(['c']);
  expect(await last).toBeUndefined();
  expect(vi.getTimerCount()).toBe(0);
});

test('there is no room while one full statement is waiting, and there is room again after it is taken', async () => {
  const backlog = new Backlog<string>(100, 1_000);
  backlog.add('a', groupOf(1), 1_000);
  const room = backlog.room();
  expect(await isSettled(room)).toBe(false);
  await backlog.take();
  await room;
});

test('there is no room while a full statement of events is waiting, however few bytes they have', async () => {
  const backlog = new Backlog<string>(100, 1_000);
  backlog.add('a', groupOf(60), 1);
  await backlog.room();
  backlog.add('b', groupOf(40), 1);
  const room = backlog.room();
  expect(await isSettled(room)).toBe(false);
  await backlog.take();
  await room;
});

test('room is for as many messages as fill a statement, by their events or their bytes', async () => {
  const backlog = new Backlog<string>(100, 1_000);
  const roomAfter = async (events: number, bytes: number) => {
    for (let message = 0; message < 200; message++) {
      backlog.add('a', groupOf(events), bytes);
      await backlog.take();
    }
    return backlog.room();
  };
  expect(await backlog.room()).toBe(1);
  expect(await roomAfter(10, 1)).toBeCloseTo(10, 2);
  expect(await roomAfter(1, 500)).toBeCloseTo(2, 2);
  expect(await roomAfter(400, 1)).toBe(1);
});

test('closing returns the messages that were not taken, and ends all waiting calls', async () => {
  const backlog = new Backlog<string>(100, 1_000);
  const waiting = backlog.take();
  expect(backlog.close()).toEqual([]);
  expect(await waiting).toBeUndefined();
  const full = new Backlog<string>(100, 1_000);
  full.add('a', groupOf(1), 2_000);
  const room = full.room();
  expect(full.close()).toEqual(['a']);
  await room;
});
