import { expect, test } from 'vitest';
import { type Caller, CallerAbortedError, openFairLimiter, QueueFullError } from './fair-limiter.ts';
import { SpaceShares } from './metrics/space-metrics.ts';

/** A limiter whose tasks end on request, and that records the order of their starts. */
function openGate(limits: Partial<Parameters<typeof openFairLimiter>[0]> = {}) {
  const run = openFairLimiter({ atOnceMax: 2, atOnceOfSpaceMax: 2, waitingOfUserMax: 1_000, ...limits });
  const started: string[] = [];
  const running: (() => void)[] = [];
  return {
    started,
    add: (caller: Caller) =>
      run(caller, () => {
        started.push(`${caller.spaceId}/${caller.holderId}`);
        return new Promise<void>((resolve) => running.push(resolve));
      }),
    /** Ends the longest-running task. */
    async endOne() {
      running.shift()?.();
      await new Promise(setImmediate);
    },
  };
}

const by = (spaceId: string, holderId: string, signal?: AbortSignal): Caller => ({
  spaceId,
  holderId,
  signal,
});

test('after 400 queued tasks of one user, a task of another space and one of another user run next', async () => {
  const gate = openGate();
  const all = Array.from({ length: 402 }, () => gate.add(by('a', 'x')));
  all.push(gate.add(by('a', 'y')), gate.add(by('b', 'z')));
  await new Promise(setImmediate);
  expect(gate.started).toEqual(['a/x', 'a/x']);
  for (let i = 0; i < 4; i++) await gate.endOne();
  expect(gate.started.slice(2)).toEqual(['a/x', 'b/z', 'a/y', 'a/x']);
  while (gate.started.length < all.length) await gate.endOne();
  await gate.endOne();
  await gate.endOne();
  await Promise.all(all);
});

test('a space cannot take all slots', async () => {
  const gate = openGate({ atOnceMax: 3, atOnceOfSpaceMax: 2 });
  for (let i = 0; i < 10; i++) void gate.add(by('a', String(i)));
  void gate.add(by('b', 'z'));
  await new Promise(setImmediate);
  expect(gate.started).toEqual(['a/0', 'a/1', 'b/z']);
});

test('a person with several spaces cannot take all slots', async () => {
  const gate = openGate({ atOnceMax: 3, atOnceOfSpaceMax: 2 });
  const own = ['a', 'b', 'c'].map((spaceId) => gate.add(by(spaceId, 'x')));
  void gate.add(by('d', 'z'));
  await new Promise(setImmediate);
  expect(gate.started).toEqual(['a/x', 'b/x', 'd/z']);
  await gate.endOne();
  await gate.endOne();
  await gate.endOne();
  await gate.endOne();
  await Promise.all(own);
});

test('a task whose signal is aborted leaves the queue, and never runs', async () => {
  const gate = openGate({ atOnceMax: 1, waitingOfUserMax: 2 });
  const left = new AbortController();
  void gate.add(by('a', 'x'));
  const waiting = [gate.add(by('a', 'x', left.signal)), gate.add(by('a', 'x', left.signal))];
  await expect(gate.add(by('a', 'x'))).rejects.toThrow(QueueFullError);
  left.abort();
  await Promise.all(waiting.map((task) => expect(task).rejects.toThrow(CallerAbortedError)));
  await expect(gate.add(by('b', 'y', left.signal))).rejects.toThrow(CallerAbortedError);
  void gate.add(by('a', 'x'));
  await gate.endOne();
  expect(gate.started).toEqual(['a/x', 'a/x']);
});

test('a failed task frees its slot, and the call rejects with its error', async () => {
  const run = openFairLimiter({ atOnceMax: 1, atOnceOfSpaceMax: 1, waitingOfUserMax: 1 });
  await expect(run(by('a', 'x'), () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(await run(by('a', 'x'), () => Promise.resolve(1))).toBe(1);
});

test('the share of the space whose tasks take most time is known', async () => {
  const shares = new SpaceShares();
  expect(shares.findBusiest()).toBeUndefined();
  shares.add('a', 30);
  shares.add('b', 10);
  shares.add('a', 40);
  expect(shares.findBusiest()).toEqual({ spaceId: 'a', share: 70 / 80 });
  const taken: string[] = [];
  const limit = openFairLimiter({ atOnceMax: 1, atOnceOfSpaceMax: 1, waitingOfUserMax: 1 }, (spaceId) =>
    taken.push(spaceId),
  );
  await limit({ spaceId: 'c', holderId: 'h' }, async () => {});
  expect(taken).toEqual(['c']);
});
