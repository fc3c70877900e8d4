import { expect, test, vi } from 'vitest';
import { probeTimeoutMs, readinessReuseMs } from './http/limits.ts';
import { createReadiness } from './readiness.ts';

test('it names the dependencies whose probe fails, throws or does not answer', async () => {
  vi.useFakeTimers();
  const findUnready = createReadiness({
    good: async () => 'here',
    rejecting: () => Promise.reject(new Error('away')),
    throwing: () => {
      throw new Error('closed');
    },
    silent: () => new Promise(() => {}),
  });
  const unready = findUnready();
  await vi.advanceTimersByTimeAsync(probeTimeoutMs);
  expect(await unready).toEqual(['rejecting', 'throwing', 'silent']);
  vi.useRealTimers();
});

test('requests share one round of probes: an anonymous client causes at most four queries a second', async () => {
  vi.useFakeTimers();
  let queries = 0;
  const findUnready = createReadiness({ postgres: async () => ++queries });
  for (let elapsedMs = 0; elapsedMs < 1_000; elapsedMs += 10) {
    await Promise.all([findUnready(), findUnready()]);
    await vi.advanceTimersByTimeAsync(10);
  }
  expect(queries).toBeLessThanOrEqual(1_000 / readinessReuseMs);
  vi.useRealTimers();
});
