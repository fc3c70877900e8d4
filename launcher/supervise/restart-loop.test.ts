import { expect, test } from 'vitest';
import { until } from '../../test/support/wait.ts';
import type { ProcessExit } from '../process/child-process.ts';
import { startRestartLoop } from './restart-loop.ts';

/** A process whose exit the test controls. */
class FakeProcess {
  readonly #exit = Promise.withResolvers<ProcessExit>();
  readonly exited = this.#exit.promise;
  wasStopped = false;

  die(exit: ProcessExit): void {
    this.#exit.resolve(exit);
  }

  async stop(): Promise<void> {
    this.wasStopped = true;
    this.die({ code: 0, signal: null });
  }
}

test('a process that exits is restarted, also after a failed restart, until it is stopped', async () => {
  const started: FakeProcess[] = [];
  const reports: string[] = [];
  let failures = 1;
  const supervised = await startRestartLoop({
    name: 'ingest',
    lastOutput: () => 'out of memory',
    report: (line) => reports.push(line),
    start: async () => {
      if (started.length === 1 && failures-- > 0) throw new Error('no memory');
      const next = new FakeProcess();
      started.push(next);
      return next;
    },
  });
  started[0]?.die({ code: 134, signal: null });
  await until(() => started.length === 2);
  await until(() => reports.length === 3);
  expect(reports).toEqual([
    'ingest exited (exit code 134): out of memory; restarting',
    'ingest could not be restarted: no memory',
    'ingest restarted',
  ]);
  await supervised[Symbol.asyncDispose]();
  expect(started[1]?.wasStopped).toBe(true);
  expect(started).toHaveLength(2);
});

test('a process that is held is stopped, also one that is being restarted, and starts when it is released', async () => {
  const started: FakeProcess[] = [];
  const reports: string[] = [];
  let next = Promise.resolve();
  const supervised = await startRestartLoop({
    name: 'writer',
    lastOutput: () => '',
    report: (line) => reports.push(line),
    start: async () => {
      const process = new FakeProcess();
      started.push(process);
      await next;
      return process;
    },
  });
  await supervised.hold();
  expect(started[0]?.wasStopped).toBe(true);
  await supervised.hold();
  await supervised.release();
  expect(started).toHaveLength(2);
  expect(reports).toEqual(['writer restarted']);
  const { promise, resolve } = Promise.withResolvers<void>();
  next = promise;
  started[1]?.die({ code: 1, signal: null });
  await until(() => started.length === 3);
  const held = supervised.hold();
  resolve();
  await held;
  expect(started[2]?.wasStopped).toBe(true);
  expect(started).toHaveLength(3);
  await supervised[Symbol.asyncDispose]();
  expect(started).toHaveLength(3);
});

test('a first start that fails is not retried', async () => {
  let starts = 0;
  const supervised = startRestartLoop({
    name: 'ingest',
    lastOutput: () => '',
    report: () => {},
    start: async () => {
      starts++;
      throw new Error('wrong configuration');
    },
  });
  await expect(supervised).rejects.toThrow('wrong configuration');
  expect(starts).toBe(1);
});

test('a stop during a restart also stops the restarted process', async () => {
  const started: FakeProcess[] = [];
  const secondStart = Promise.withResolvers<void>();
  const supervised = await startRestartLoop({
    name: 'ingest',
    lastOutput: () => '',
    report: () => {},
    start: async () => {
      const next = new FakeProcess();
      started.push(next);
      if (started.length === 2) await secondStart.promise;
      return next;
    },
  });
  started[0]?.die({ code: null, signal: 'SIGKILL' });
  await until(() => started.length === 2);
  const stopped = supervised[Symbol.asyncDispose]();
  secondStart.resolve();
  await stopped;
  expect(started[1]?.wasStopped).toBe(true);
});

test('the back-off doubles up to 5 s, and starts again after a process that ran for more than 1.5 s', async () => {
  const started: FakeProcess[] = [];
  const backoffsMs: number[] = [];
  let nowMs = 0;
  const supervised = await startRestartLoop({
    name: 'ingest',
    lastOutput: () => '',
    report: () => {},
    start: async () => {
      const next = new FakeProcess();
      started.push(next);
      return next;
    },
    clock: {
      nowMs: () => nowMs,
      sleep: async (ms) => void backoffsMs.push(ms),
    },
  });
  const exitAfter = async (ranMs: number) => {
    const restarts = backoffsMs.length;
    nowMs += ranMs;
    started.at(-1)?.die({ code: null, signal: 'SIGKILL' });
    await until(() => backoffsMs.length === restarts + 1 && started.length === restarts + 2);
  };
  for (const ranMs of [0, 0, 1_500, 0, 0, 0, 0, 1_501, 1_501, 0]) await exitAfter(ranMs);
  expect(backoffsMs).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 100, 100, 200]);
  await supervised[Symbol.asyncDispose]();
});
