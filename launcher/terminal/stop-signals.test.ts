import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { listenForStopSignals } from './stop-signals.ts';

test('a second Ctrl-C forces the stop, and a duplicate of the first within 700 ms does not', async () => {
  const host = new EventEmitter();
  let nowMs = 0;
  let forced = 0;
  const stop = listenForStopSignals(
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
