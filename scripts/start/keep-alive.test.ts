import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { until } from '../../test/support/wait.ts';
import type { ProcessExit } from '../provision/embedded-process.ts';
import { healthyAfterMs, keepAlive } from './keep-alive.ts';

/** A process that the test ends. */
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

test('a process that ends is started again, also when that fails at first, until it is stopped', async () => {
  const started: FakeProcess[] = [];
  const reports: string[] = [];
  let failures = 1;
  const kept = await keepAlive({
    name: 'ingest',
    lastWords: () => 'out of memory',
    report: (line) => reports.push(line),
    start: async () => {
      if (started.length === 1 && failures-- > 0) throw new Error('no room');
      const next = new FakeProcess();
      started.push(next);
      return next;
    },
  });
  started[0]?.die({ code: 134, signal: null });
  await until(() => started.length === 2);
  await until(() => reports.length === 3);
  expect(reports).toEqual([
    'ingest ended (exit code 134): out of memory; starting it again',
    'ingest did not start again: no room',
    'ingest runs again',
  ]);
  await kept[Symbol.asyncDispose]();
  expect(started[1]?.wasStopped).toBe(true);
  expect(started).toHaveLength(2);
});

test('a first start that fails is not tried again', async () => {
  let starts = 0;
  const kept = keepAlive({
    name: 'ingest',
    lastWords: () => '',
    report: () => {},
    start: async () => {
      starts++;
      throw new Error('wrong configuration');
    },
  });
  await expect(kept).rejects.toThrow('wrong configuration');
  expect(starts).toBe(1);
});

test('a stop while it is being started again stops that one as well', async () => {
  const started: FakeProcess[] = [];
  const secondStart = Promise.withResolvers<void>();
  const kept = await keepAlive({
    name: 'ingest',
    lastWords: () => '',
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
  const stopped = kept[Symbol.asyncDispose]();
  secondStart.resolve();
  await stopped;
  expect(started[1]?.wasStopped).toBe(true);
});

test('a process that works in between is back at once, however often it is killed', async () => {
  const started: FakeProcess[] = [];
  const kept = await keepAlive({
    name: 'ingest',
    lastWords: () => '',
    report: () => {},
    start: async () => {
      const next = new FakeProcess();
      started.push(next);
      return next;
    },
  });
  let backMs = Infinity;
  for (let kills = 1; kills <= 5; kills++) {
    await sleep(healthyAfterMs + 10);
    const killedMs = performance.now();
    started.at(-1)?.die({ code: null, signal: 'SIGKILL' });
    await until(() => started.length === kills + 1);
    backMs = performance.now() - killedMs;
  }
  // Doubled four times, the pause would be 1,600 ms.
  expect(backMs).toBeLessThan(1_000);
  await kept[Symbol.asyncDispose]();
});
