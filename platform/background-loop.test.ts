import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { until } from '../test/support/wait.ts';
import { startLoop } from './background-loop.ts';

/** A log that keeps its lines. */
function openLines() {
  const lines: string[] = [];
  return {
    lines,
    warn: ({ err }: { err?: unknown }, message: string) =>
      lines.push(`${message}: ${(err as Error).message}`),
    info: (message: string) => lines.push(message),
  };
}

const work = { intervalMs: 1, retryMs: 1, failure: 'nothing was counted' };

test('a pass that throws or rejects neither ends the loop nor the process, and is logged once for an outage', async () => {
  const log = openLines();
  let passes = 0;
  const run = () => {
    passes += 1;
    if (passes === 1) throw new Error('the disk is full');
    if (passes < 5) return Promise.reject(new Error('the disk is full'));
    if (passes === 5) return Promise.reject(new Error('it is read-only'));
    return undefined;
  };
  await using _loop = startLoop({ ...work, run }, log);
  await until(() => passes > 8);
  expect(log.lines).toEqual([
    'nothing was counted: the disk is full',
    'nothing was counted: it is read-only',
    'works again, after: nothing was counted',
  ]);
});

test('the result of a pass decides the pause, and a stop does not wait for it', async () => {
  let passes = 0;
  const run = () => {
    passes += 1;
    return passes < 3;
  };
  const intervalMs = (isMore: boolean) => (isMore ? 0 : 3_600_000);
  const loop = startLoop({ ...work, run, intervalMs }, openLines());
  await until(() => passes === 3);
  await loop[Symbol.asyncDispose]();
  expect(passes).toBe(3);
});

test('a stop interrupts the pass in progress, waits for its end, and logs no failure of it', async () => {
  const log = openLines();
  const started = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  let hasEnded = false;
  const run = (signal: AbortSignal) => {
    started.resolve();
    return held.promise.finally(async () => {
      await nextTurn();
      hasEnded = signal.aborted;
    });
  };
  const interrupt = () => held.reject(new Error('the connection was closed'));
  const loop = startLoop({ ...work, run, interrupt }, log);
  await started.promise;
  await loop[Symbol.asyncDispose]();
  expect(hasEnded).toBe(true);
  expect(log.lines).toEqual([]);
});
