import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { llmEvent, someEvents, toolEvent } from './support/events.ts';
import { postEvents, postRaw } from './support/http.ts';
import { type Pipeline, startPipeline } from './support/pipeline.ts';
import { countRows, countUsage, until, untilDrained } from './support/wait.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await startPipeline();
});
afterAll(() => pipeline?.[Symbol.asyncDispose]());

test('the same batch twenty times at once is stored and billed once', async () => {
  const tenant = await pipeline.createTenant();
  const events = someEvents(100);
  const answers = await Promise.all(Array.from({ length: 20 }, () => postEvents(pipeline, tenant, events)));
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(202));
  await untilDrained(pipeline);
  expect(await countRows(pipeline, tenant.spaceId)).toBe(100);
  expect(await countUsage(pipeline, tenant.spaceId)).toBe(100);
});

test('overlapping batches are stored and billed once an event, also one after the other', async () => {
  const tenant = await pipeline.createTenant();
  const events = someEvents(300);
  const batches = [events.slice(0, 200), events.slice(100, 300), events.slice(50, 250), events];
  await Promise.all(batches.map((batch) => postEvents(pipeline, tenant, batch)));
  await untilDrained(pipeline);
  await postEvents(pipeline, tenant, events.slice(10, 20));
  await untilDrained(pipeline);
  expect(await countRows(pipeline, tenant.spaceId)).toBe(300);
  expect(await countUsage(pipeline, tenant.spaceId)).toBe(300);
});

test('the same ids in two spaces are two events each', async () => {
  const [one, two] = [await pipeline.createTenant(), await pipeline.createTenant()];
  const events = someEvents(10);
  await Promise.all([postEvents(pipeline, one, events), postEvents(pipeline, two, events)]);
  await untilDrained(pipeline);
  expect([await countRows(pipeline, one.spaceId), await countRows(pipeline, two.spaceId)]).toEqual([10, 10]);
});

test('an id in upper case is the same id', async () => {
  const tenant = await pipeline.createTenant();
  const id = randomUUID();
  await postEvents(pipeline, tenant, [llmEvent({ id })]);
  await untilDrained(pipeline);
  await postEvents(pipeline, tenant, [llmEvent({ id: id.toUpperCase() })]);
  await untilDrained(pipeline);
  expect(await pipeline.sql`SELECT id FROM events WHERE space_id = ${tenant.spaceId}`).toEqual([{ id }]);
  expect(await countUsage(pipeline, tenant.spaceId)).toBe(1);
});

test('of one id twice in a batch the first wins', async () => {
  const tenant = await pipeline.createTenant();
  const first = llmEvent();
  const answer = await postEvents(pipeline, tenant, [first, toolEvent({ id: first.id }), llmEvent()]);
  expect(answer.body).toEqual({ message: 'Queued 3 events.' });
  await untilDrained(pipeline);
  const rows =
    await pipeline.sql`SELECT type FROM events WHERE space_id = ${tenant.spaceId} ORDER BY segment_index`;
  expect(rows.map((row) => row.type)).toEqual(['llm', 'llm']);
});

test('a batch that was retried whole leaves no second segment', async () => {
  const tenant = await pipeline.createTenant();
  const events = someEvents(5);
  await postEvents(pipeline, tenant, events);
  // White space makes it another body, and so another message for the broker's own filter... but not other ids.
  await until(async () => (await countRows(pipeline, tenant.spaceId)) === 5);
  await postRaw(pipeline, tenant, JSON.stringify({ events: [...events].reverse() }, null, 2));
  await untilDrained(pipeline);
  expect(await pipeline.sql`SELECT id FROM segments WHERE space_id = ${tenant.spaceId}`).toHaveLength(1);
});

test('statistics count each event once, by minute, type and model or tool', async () => {
  const tenant = await pipeline.createTenant();
  const minute = 29_333_334;
  const at = { startTimeMs: minute * 60_000, endTimeMs: minute * 60_000 + 30, durationMs: 30 };
  const failed = { ...at, status: { state: 'error' } };
  const events = [
    llmEvent(at),
    llmEvent(at),
    llmEvent(failed),
    toolEvent({ ...at, startTimeMs: at.startTimeMs - 1 }),
  ];
  for (let times = 0; times < 2; times++) {
    await postEvents(pipeline, tenant, events);
    await postEvents(pipeline, tenant, events.slice(1));
    await untilDrained(pipeline);
  }
  const rows = await pipeline.sql`
    SELECT minute::integer, type, name, events::integer, errors::integer, input_tokens, output_tokens, total_tokens,
      duration_ms, to_json(latency) AS latency FROM event_stats WHERE space_id = ${tenant.spaceId} ORDER BY minute`;
  const tokens = (calls: number) => ({
    input_tokens: 12 * calls,
    output_tokens: 3 * calls,
    total_tokens: 15 * calls,
  });
  const latency = (calls: number) => [0, 0, 0, 0, 0, calls, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
  expect(rows).toEqual([
    {
      minute: minute - 1,
      type: 'tool',
      name: 'get_weather',
      events: 1,
      errors: 0,
      ...tokens(0),
      duration_ms: 30,
      latency: latency(1),
    },
    {
      minute,
      type: 'llm',
      name: 'gpt-4o',
      events: 3,
      errors: 1,
      ...tokens(3),
      duration_ms: 90,
      latency: latency(3),
    },
  ]);
});
