import { randomUUIDv7 } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { llmEvent } from '../../harness/fixtures/events.ts';
import { partOf } from '../../harness/fixtures/part.ts';
import { parseConfig } from '../../platform/config.ts';
import { openLog } from '../../platform/log.ts';
import { connectQueue } from '../../platform/queue/connect.ts';
import { encodeGroup } from '../../platform/queue/group.ts';
import { SequenceGuard } from '../../platform/queue/sequence-guard.ts';
import { firstStream } from '../../platform/queue/settings.ts';
import { ensureStreams } from '../../platform/queue/stream.ts';
import { createStreamPublisher } from '../../platform/queue/stream-publisher.ts';
import { hourMs } from '../../platform/time.ts';
import { startDelivery } from '../../services/writer/delivery.ts';
import { startStoreWorkers } from '../../services/writer/store-workers.ts';
import { createSpace } from '../../store/accounts/spaces.ts';
import { openPostgres } from '../../store/db/connect.ts';
import { openDatabase } from '../../store/db/database.ts';
import { events, quarantine } from '../../store/db/schema.ts';
import { boundOf } from '../../store/db/weeks.ts';
import { createDatabase, startNats } from '../../test/support/test-servers.ts';
import { until } from '../../test/support/wait.ts';
import { eraseEvents } from './erase.ts';

/** Events as queued by an ingest process whose clock is ahead (or behind, if negative). */
function shiftedPart(spaceId: string, sent: readonly object[], aheadMs: number) {
  const atMs = Date.now() + aheadMs;
  const segmentId = boundOf(atMs).slice(0, 13) + randomUUIDv7().slice(13);
  return Object.assign(partOf(spaceId, sent, { segmentId }), { receivedAtMs: BigInt(atMs) });
}

test('events queued before the start are erased and later ones kept, whatever the clock of the ingest process', async () => {
  await using backing = await createDatabase();
  const open = (connectionsMax: number) =>
    openPostgres(backing.url, { applicationName: 'test', connectionsMax, statementTimeoutMs: 60_000 });
  await using sql = open(4);
  await using alone = open(1);
  const database = openDatabase(sql);
  await using server = await startNats();
  await using nats = await connectQueue(server.url, 'test');
  await ensureStreams(nats, parseConfig({ NATS_MONITOR_URL: server.monitorUrl, QUEUE_BYTES_MAX: '1000000' }));
  const publish = createStreamPublisher(nats, new SequenceGuard(() => {}), firstStream);
  const { id: spaceId } = await createSpace(database, 'test');
  await sql`ALTER TABLE events ADD CONSTRAINT poison CHECK (name <> 'poison')`;
  const eventsOf = () => [
    llmEvent({ context: { userId: 'gone' } }),
    llmEvent({ context: { userId: 'gone' }, properties: { llm: { model: 'poison' } } }),
  ];
  const [before, after] = [eventsOf(), eventsOf()];
  await publish(encodeGroup([shiftedPart(spaceId, before, hourMs)]), 'before');

  const waiting = Promise.withResolvers<void>();
  const erasing = eraseEvents({ database: openDatabase(alone), connection: nats }, spaceId, {
    subject: { kind: 'user', value: 'gone' },
    report: (text) => text.startsWith('waiting') && waiting.resolve(),
  });
  await Promise.race([waiting.promise, erasing]);
  // The clock of this ingest process is behind by more than the erasure takes.
  await publish(encodeGroup([shiftedPart(spaceId, after, -hourMs)]), 'after');
  const log = openLog('test', { LOG_LEVEL: 'silent' });
  await using writer = startStoreWorkers({ database, log, concurrency: 2 });
  await using _delivery = startDelivery({ connection: nats, log }, firstStream, writer);
  const { erased } = await erasing;
  await until(async () => (await database.$count(quarantine)) === 1 && (await database.$count(events)) === 1);

  expect(erased).toMatchObject({ events: 1, quarantineEvents: 1 });
  const idsIn = async (table: typeof events | typeof quarantine) =>
    (await database.select({ id: table.id }).from(table).where(eq(table.spaceId, spaceId))).map(
      ({ id }) => id,
    );
  expect(await idsIn(events)).toEqual([after[0]?.id]);
  expect(await idsIn(quarantine)).toEqual([after[1]?.id]);
});
