import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { listenForStop } from './stop-requests.ts';

test('the second Ctrl-C forces, and the same one by another way does not', async () => {
  const host = new EventEmitter();
  let nowMs = 0;
  let forced = 0;
  const stop = listenForStop(
    host,
    () => forced++,
    () => nowMs,
  );
  host.emit('SIGINT');
  expect(stop.signal.aborted).toBe(true);
  expect(await stop.requested).toBe('SIGINT');
  nowMs = 100;
  host.emit('SIGINT');
  expect(forced).toBe(0);
  nowMs = 2_000;
  host.emit('SIGINT');
  expect(forced).toBe(1);
});
