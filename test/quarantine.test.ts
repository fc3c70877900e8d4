import { afterAll, beforeAll, expect, test } from 'vitest';
import { readEventTexts } from '../lib/segment/read.ts';
import { listQuarantine } from '../lib/write/quarantine.ts';
import { replayQuarantined } from '../lib/write/replay.ts';
import { llmEvent, someEvents } from './support/events.ts';
import { postEvents } from './support/http.ts';
import { type Pipeline, startPipeline } from './support/pipeline.ts';
import { countRows, countUsage, untilDrained } from './support/wait.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await startPipeline();
});
afterAll(() => pipeline?.[Symbol.asyncDispose]());

test('an event that Postgres refuses waits in quarantine, and nothing beside it does', async () => {
  const { sql } = pipeline;
  await sql`ALTER TABLE events ADD CONSTRAINT poison CHECK (name <> 'poison')`;
  const tenant = await pipeline.createTenant();
  const poison = [1, 2].map(() =>
    llmEvent({ properties: { llm: { model: 'poison', big: '9007199254740993' } } }),
  );
  const events = [...someEvents(30), ...poison, ...someEvents(9)];
  // Sent twice, in one order and another: a retry fills quarantine no further.
  await Promise.all([postEvents(pipeline, tenant, events), postEvents(pipeline, tenant, someEvents(50))]);
  await postEvents(pipeline, tenant, [...events].reverse());
  await untilDrained(pipeline);
  expect(await countRows(pipeline, tenant.spaceId)).toBe(89);
  expect(await countUsage(pipeline, tenant.spaceId)).toBe(89);
  const entries = await listQuarantine(sql, tenant.spaceId);
  expect(entries.map(({ id }) => id).sort()).toEqual(poison.map(({ id }) => id).sort());
  expect(entries[0]).toMatchObject({ sqlstate: '23514', eventCount: 1 });

  const refusedAgain = await replayQuarantined(sql);
  expect(refusedAgain.replayed).toEqual([]);
  expect(refusedAgain.failed).toHaveLength(2);

  await sql`ALTER TABLE events DROP CONSTRAINT poison`;
  const [one = '', two = ''] = poison.map(({ id }) => String(id));
  expect(await replayQuarantined(sql, [one])).toEqual({ replayed: [one], failed: [] });
  expect(await replayQuarantined(sql)).toEqual({ replayed: [two], failed: [] });
  expect(await replayQuarantined(sql)).toEqual({ replayed: [], failed: [] });
  expect(await countRows(pipeline, tenant.spaceId)).toBe(91);
  expect(await countUsage(pipeline, tenant.spaceId)).toBe(91);
  const [row] = await sql<{ segmentId: string; segmentIndex: number }[]>`
    SELECT segment_id AS "segmentId", segment_index AS "segmentIndex" FROM events WHERE id = ${one}`;
  expect(row && (await readEventTexts(sql, tenant.spaceId, [row]))).toEqual([JSON.stringify(poison[0])]);
});

test('a message that is none of ours is kept, and does not hold up the queue', async () => {
  const { connectQueue } = await import('../lib/queue/connect.ts');
  const { createPublish } = await import('../lib/queue/publish.ts');
  const { Acknowledged } = await import('../lib/queue/acknowledged.ts');
  await using connection = await connectQueue(pipeline.nats.url, 'test');
  const publish = createPublish(connection, new Acknowledged(() => {}));
  await publish(Buffer.from('\xff not protobuf', 'latin1'), 'bad');
  const tenant = await pipeline.createTenant();
  await postEvents(pipeline, tenant, someEvents(3));
  await untilDrained(pipeline);
  expect(await countRows(pipeline, tenant.spaceId)).toBe(3);
  const [entry] = await pipeline.sql`SELECT part FROM quarantine WHERE sqlstate = ''`;
  expect(entry?.part.toString('latin1')).toBe('\xff not protobuf');
  expect((await replayQuarantined(pipeline.sql)).failed).toHaveLength(1);
});
