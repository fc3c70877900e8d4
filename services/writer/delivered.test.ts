import { jetstream } from '@nats-io/jetstream';
import { expect, test } from 'vitest';
import { parseConfig } from '../../platform/config.ts';
import { openLog } from '../../platform/log.ts';
import { connectQueue } from '../../platform/queue/connect.ts';
import { firstStream } from '../../platform/queue/settings.ts';
import { ensureStreams } from '../../platform/queue/stream.ts';
import { startNats } from '../../test/support/test-servers.ts';
import { startDelivery } from './delivery.ts';

test('a message is redelivered after a nak, not before its delay, and its deliveries are counted', async () => {
  await using nats = await startNats();
  await using connection = await connectQueue(nats.url, 'test');
  await ensureStreams(
    connection,
    parseConfig({ NATS_URL: nats.url, NATS_MONITOR_URL: nats.monitorUrl, QUEUE_BYTES_MAX: '1000000' }),
  );
  await jetstream(connection).publish(firstStream.subject, 'x');
  const arrivals: number[] = [];
  const deliveries: number[] = [];
  const queuedAtMs: number[] = [];
  const startedMs = Date.now();
  const again = Promise.withResolvers<void>();
  const log = openLog('test', { LOG_LEVEL: 'silent' });
  await using _ = startDelivery({ connection, log }, firstStream, {
    room: async () => 10,
    receive(message) {
      arrivals.push(performance.now());
      deliveries.push(message.deliveries);
      queuedAtMs.push(message.queuedAtMs);
      // A fraction, like the jitter's: nats-server ignores a delay that is not a whole number of nanoseconds.
      if (arrivals.length === 1) return message.nak(700.123_456_7);
      message.ack();
      again.resolve();
    },
  });
  await again.promise;
  const [first = 0, second = 0] = arrivals;
  expect(deliveries).toEqual([1, 2]);
  expect(second - first).toBeGreaterThan(650);
  // The clocks of two processes differ by some milliseconds.
  expect(queuedAtMs[0]).toBeGreaterThan(startedMs - 1_000);
  expect(queuedAtMs[0]).toBeLessThan(Date.now() + 1_000);
  expect(queuedAtMs[1]).toBe(queuedAtMs[0]);
});
