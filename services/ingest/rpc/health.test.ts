import { Code } from '@connectrpc/connect';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { HealthCheckResponse_ServingStatus as Status } from '../../../gen/grpc/health/v1/health_pb.ts';
import { createHealth, type HealthService, healthWatchersMax } from './health.ts';
import { healthWatchMs } from './status-monitor.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const anyService = { service: '' };

function open() {
  const state = { checks: 0, unready: [] as string[] };
  const health = createHealth(async () => {
    state.checks += 1;
    return state.unready;
  });
  return { state, health };
}

/** A Watch stream: the messages so far, and how it ended. */
function watch(health: HealthService, request = anyService) {
  const client = new AbortController();
  const sent: Status[] = [];
  const run = async () => {
    for await (const { status } of health.watch(request, { signal: client.signal })) sent.push(status);
  };
  return { sent, client, ended: run() };
}

test('all watchers share one check a second', async () => {
  const { state, health } = open();
  const watchers = Array.from({ length: 100 }, () => watch(health));
  await vi.advanceTimersByTimeAsync(0);
  const before = state.checks;
  await vi.advanceTimersByTimeAsync(10 * healthWatchMs);
  expect(state.checks - before).toBe(10);
  state.unready = ['nats'];
  await vi.advanceTimersByTimeAsync(healthWatchMs);
  for (const { sent } of watchers) expect(sent).toEqual([Status.SERVING, Status.NOT_SERVING]);
});

test('without watchers nothing is checked, and the next watcher gets no old status', async () => {
  const { state, health } = open();
  const first = watch(health);
  await vi.advanceTimersByTimeAsync(0);
  first.client.abort();
  await first.ended;
  const before = state.checks;
  await vi.advanceTimersByTimeAsync(10 * healthWatchMs);
  expect(state.checks).toBe(before);
  state.unready = ['postgres'];
  const second = watch(health);
  await vi.advanceTimersByTimeAsync(0);
  expect(second.sent).toEqual([Status.NOT_SERVING]);
});

test('a watcher beyond the limit gets RESOURCE_EXHAUSTED, until another client disconnects', async () => {
  const { health } = open();
  const watchers = Array.from({ length: healthWatchersMax }, () => watch(health));
  await vi.advanceTimersByTimeAsync(0);
  for (const request of [anyService, { service: 'unknown' }]) {
    await expect(watch(health, request).ended).rejects.toMatchObject({ code: Code.ResourceExhausted });
  }
  expect(await health.check(anyService)).toEqual({ status: Status.SERVING });
  watchers[0]?.client.abort();
  await watchers[0]?.ended;
  const next = watch(health);
  await vi.advanceTimersByTimeAsync(0);
  expect(next.sent).toEqual([Status.SERVING]);
});

test('disposing ends every stream, after NOT_SERVING if its last status was SERVING', async () => {
  const { health } = open();
  const [known, unknown] = [watch(health), watch(health, { service: 'unknown' })];
  await vi.advanceTimersByTimeAsync(0);
  health[Symbol.dispose]();
  await Promise.all([known.ended, unknown.ended]);
  expect(known.sent).toEqual([Status.SERVING, Status.NOT_SERVING]);
  expect(unknown.sent).toEqual([Status.SERVICE_UNKNOWN]);
  const late = watch(health);
  await late.ended;
  expect(late.sent).toEqual([]);
});
