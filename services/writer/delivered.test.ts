import { jetstream } from '@nats-io/jetstream';
import { expect, test } from 'vitest';
import { parseConfig } from '../../lib/config.ts';
import { connectQueue } from '../../lib/queue/connect.ts';
import { firstStream } from '../../lib/queue/settings.ts';
import { ensureStream } from '../../lib/queue/stream.ts';
import { startNats } from '../../test/support/backing.ts';
import { startDelivery } from './delivery.ts';

test('a message that was handed back comes again no earlier than asked for', async () => {
  await using nats = await startNats();
  await using connection = await connectQueue(nats.url, 'test');
  await ensureStream(
    connection,
    parseConfig({ NATS_URL: nats.url, NATS_MONITOR_URL: nats.monitorUrl, QUEUE_BYTES_MAX: '1000000' }),
  );
  await jetstream(connection).publish(firstStream.subject, 'x');
  const arrivals: number[] = [];
  const again = Promise.withResolvers<void>();
  await using _ = startDelivery(connection, firstStream, {
    room: async () => {},
    receive(message) {
      arrivals.push(performance.now());
      // A fraction, as jitter makes it: nats-server ignores a delay that is no whole number of nanoseconds.
      if (arrivals.length === 1) return message.nak(700.123_456_7);
      message.ack();
      again.resolve();
    },
  });
  await again.promise;
  const [first = 0, second = 0] = arrivals;
  expect(second - first).toBeGreaterThan(650);
});
