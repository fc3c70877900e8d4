import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { connectQueue } from '../../../platform/queue/connect.ts';
import { startNats } from '../../../test/support/test-servers.ts';
import { openQuotaUsageBroadcast, type QuotaUsage } from './quota-usage-broadcast.ts';

test('malformed messages are ignored, and later ones are received', async () => {
  await using nats = await startNats();
  await using own = await connectQueue(nats.url, 'own');
  await using other = await connectQueue(nats.url, 'other');
  const log = pino({ level: 'silent' });
  const received: QuotaUsage[] = [];
  const broadcast = openQuotaUsageBroadcast(own, log);
  broadcast.listen((usage) => received.push(usage));
  await own.flush();
  const usage = { spaceId: randomUUID(), events: 3, position: { stream: 'S', sequence: 7 } };
  const malformed = [
    '',
    '{',
    'null',
    '[]',
    '{"from":"x"}',
    JSON.stringify({ ...usage, from: randomUUID(), events: 'x' }),
  ];
  for (const text of malformed) other.publish('weir.accepted', text);
  await openQuotaUsageBroadcast(other, log).announce(usage);
  await broadcast.caughtUp();
  expect(received).toEqual([usage]);
});

test('a process does not receive its own messages', async () => {
  await using nats = await startNats();
  await using connection = await connectQueue(nats.url, 'test');
  const received: QuotaUsage[] = [];
  const broadcast = openQuotaUsageBroadcast(connection, pino({ level: 'silent' }));
  broadcast.listen((usage) => received.push(usage));
  await broadcast.announce({ spaceId: randomUUID(), events: 1, position: { stream: 'S', sequence: 1 } });
  await broadcast.caughtUp();
  expect(received).toEqual([]);
});
