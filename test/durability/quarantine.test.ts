import { randomUUID, randomUUIDv7 } from 'node:crypto';
import { expect, test } from 'vitest';
import { llmEvent, someEvents } from '../../harness/fixtures/events.ts';
import { connectQueue } from '../../platform/queue/connect.ts';
import { encodeGroup } from '../../platform/queue/group.ts';
import { SequenceGuard } from '../../platform/queue/sequence-guard.ts';
import { firstStream } from '../../platform/queue/settings.ts';
import { createStreamPublisher } from '../../platform/queue/stream-publisher.ts';
import { readEventTexts } from '../../store/segments/read.ts';
import { listQuarantine } from '../../store/write/quarantine.ts';
import { replayQuarantined } from '../../store/write/replay.ts';
import { postEvents } from '../support/http.ts';
import { usePipeline } from '../support/use-pipeline.ts';
import { countRows, countUsage, until, untilDrained } from '../support/wait.ts';

const { pipeline } = usePipeline();

test('only the event that Postgres rejects goes to quarantine', async () => {
  const { sql, database } = pipeline;
  await sql`ALTER TABLE events ADD CONSTRAINT poison CHECK (name <> 'poison')`;
  const tenant = await pipeline.createTenant();
  const poison = [1, 2].map(() =>
    llmEvent({ properties: { llm: { model: 'poison', big: '9007199254740993' } } }),
  );
  const events = [...someEvents(30), ...poison, ...someEvents(9)];
  // Sent twice in different orders: a retry adds no quarantine entries.
  await Promise.all([postEvents(pipeline, tenant, events), postEvents(pipeline, tenant, someEvents(50))]);
  await postEvents(pipeline, tenant, [...events].reverse());
  await untilDrained(pipeline);
  expect(await countRows(pipeline, tenant.spaceId)).toBe(89);
  expect(await countUsage(pipeline, tenant.spaceId)).toBe(89);
  const entries = await listQuarantine(database, tenant.spaceId);
  expect(entries.map(({ id }) => id).sort()).toEqual(poison.map(({ id }) => id).sort());
  expect(entries[0]).toMatchObject({ sqlstate: '23514', eventCount: 1 });

  const refusedAgain = await replayQuarantined(database);
  expect(refusedAgain.replayed).toEqual([]);
  expect(refusedAgain.failed).toHaveLength(2);

  await sql`ALTER TABLE events DROP CONSTRAINT poison`;
  const [one = '', two = ''] = poison.map(({ id }) => String(id));
  expect(await replayQuarantined(database, { ids: [one] })).toEqual({ replayed: [one], failed: [] });
  expect(await replayQuarantined(database)).toEqual({ replayed: [two], failed: [] });
  expect(await replayQuarantined(database)).toEqual({ replayed: [], failed: [] });
  expect(await countRows(pipeline, tenant.spaceId)).toBe(91);
  expect(await countUsage(pipeline, tenant.spaceId)).toBe(91);
  const [row] = await sql<{ segmentId: string; segmentIndex: number }[]>`
    SELECT segment_id AS "segmentId", segment_index AS "segmentIndex" FROM events WHERE id = ${one}`;
  expect(row && (await readEventTexts(database, tenant.spaceId, [row]))).toEqual([JSON.stringify(poison[0])]);
});

test('while quarantine rejects an event, its message stays queued, is retried with growing delays, and blocks no other', async () => {
  const { sql, database, writer } = pipeline;
  await sql`ALTER TABLE events ADD CONSTRAINT toxic CHECK (name <> 'toxic')`;
  await sql`ALTER TABLE quarantine ADD CONSTRAINT closed CHECK (false) NOT VALID`;
  const tenant = await pipeline.createTenant();
  const refused = llmEvent({ properties: { llm: { model: 'toxic' } } });
  await postEvents(pipeline, tenant, [...someEvents(3), refused]);
  const alarms = () =>
    writer
      .log()
      .split('\n')
      .filter((line) => line.includes('ALARM: quarantine refuses an event'))
      .map((line) => JSON.parse(line));
  await until(() => alarms().length >= 3);
  const [first, second, third] = alarms();
  expect(first).toMatchObject({ level: 50, sqlstate: '23514', deliveries: 1 });
  expect(second.retryInMs).toBeGreaterThan(first.retryInMs);
  expect(third.retryInMs).toBeGreaterThan(second.retryInMs);
  expect(await countRows(pipeline, tenant.spaceId)).toBe(3);
  await postEvents(pipeline, tenant, someEvents(2));
  await until(async () => (await countRows(pipeline, tenant.spaceId)) === 5);

  await sql`ALTER TABLE quarantine DROP CONSTRAINT closed`;
  await untilDrained(pipeline);
  expect((await listQuarantine(database, tenant.spaceId)).map(({ id }) => id)).toEqual([refused.id]);
  await sql`ALTER TABLE events DROP CONSTRAINT toxic`;
  expect((await replayQuarantined(database)).failed).toEqual([]);
  expect(await countUsage(pipeline, tenant.spaceId)).toBe(6);
});

test('an event with an unreadable segment is kept with its columns; bytes that are not a part are kept unchanged', async () => {
  const { sql, database } = pipeline;
  const tenant = await pipeline.createTenant();
  const [id, otherId] = [randomUUID(), randomUUID()];
  const part = {
    spaceId: tenant.spaceId,
    apiKeyId: tenant.keyId,
    segmentId: randomUUIDv7(),
    receivedAtMs: BigInt(Date.now()),
    rawBytes: 10n,
    eventCount: 1,
    // Postgres rejects it: type and state are missing.
    columns: { id, segmentIndex: '0', startTimeMs: '1', endTimeMs: '1', durationMs: '0' },
    body: Buffer.from('not zstd'),
  };
  await publishRaw(encodeGroup([part]), 'damaged');
  const malformed = encodeGroup([{ ...part, eventCount: 4_000_000_000, columns: { id: otherId } }]);
  await publishRaw(malformed, 'malformed');
  await untilDrained(pipeline);
  const entries = await listQuarantine(database, tenant.spaceId);
  expect(entries).toMatchObject([{ id, sqlstate: '23502' }]);
  const parts = await sql<{ spaceId: string; part: Buffer }[]>`
    SELECT space_id AS "spaceId", part FROM quarantine
    WHERE space_id = ${tenant.spaceId} OR message LIKE '%malformed part%'`;
  const [damaged, undecodable] = parts.toSorted((one) => (one.spaceId === tenant.spaceId ? -1 : 1));
  expect(damaged?.part.includes('not zstd')).toBe(true);
  expect(undecodable?.part).toEqual(Buffer.from(malformed));
});

test('a message that cannot be decoded is kept, and does not delay others', async () => {
  await publishRaw(Buffer.from('\xff not protobuf', 'latin1'), 'bad');
  const tenant = await pipeline.createTenant();
  await postEvents(pipeline, tenant, someEvents(3));
  await untilDrained(pipeline);
  expect(await countRows(pipeline, tenant.spaceId)).toBe(3);
  const [entry] =
    await pipeline.sql`SELECT id, part FROM quarantine WHERE message LIKE 'not a queue message:%' AND message NOT LIKE '%malformed%'`;
  expect(entry?.part.toString('latin1')).toBe('\xff not protobuf');
  expect((await replayQuarantined(pipeline.database, { ids: [entry?.id] })).failed).toHaveLength(1);
});

async function publishRaw(bytes: Uint8Array, messageId: string): Promise<void> {
  await using connection = await connectQueue(pipeline.nats.url, 'test');
  await createStreamPublisher(connection, new SequenceGuard(() => {}), firstStream)(bytes, messageId);
}
