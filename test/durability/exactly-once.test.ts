import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { countBits, latencyBucketOf } from '../../event/latency.ts';
import { llmEvent, someEvents, toolEvent } from '../../harness/fixtures/events.ts';
import { agentStats, eventStats } from '../../store/db/schema.ts';
import { foldStatistics } from '../../store/write/statistics/fold.ts';
import { postEvents, postRaw } from '../support/http.ts';
import type { Tenant } from '../support/pipeline.ts';
import { latencyQuantile } from '../support/tools/latency-quantile.ts';
import { usePipeline } from '../support/use-pipeline.ts';
import { countRows, countUsage, until, untilDrained } from '../support/wait.ts';

const { pipeline } = usePipeline();

test('the same batch, sent twenty times concurrently, is stored and billed once', async () => {
  const tenant = await pipeline.createTenant();
  const events = someEvents(100);
  // On a machine that does other work as well, the queue may be too slow for one. Its sender tries again.
  const send = () => until(async () => (await postEvents(pipeline, tenant, events)).status === 202);
  await Promise.all(Array.from({ length: 20 }, send));
  await untilDrained(pipeline);
  expect(await countRows(pipeline, tenant.spaceId)).toBe(100);
  expect(await countUsage(pipeline, tenant.spaceId)).toBe(100);
});

test('overlapping batches, concurrent and consecutive, are stored and billed once per event', async () => {
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

test('the same ids in two spaces are different events', async () => {
  const [one, two] = [await pipeline.createTenant(), await pipeline.createTenant()];
  const events = someEvents(10);
  await Promise.all([postEvents(pipeline, one, events), postEvents(pipeline, two, events)]);
  await untilDrained(pipeline);
  expect([await countRows(pipeline, one.spaceId), await countRows(pipeline, two.spaceId)]).toEqual([10, 10]);
});

test('an upper-case id equals its lower-case form', async () => {
  const tenant = await pipeline.createTenant();
  const id = randomUUID();
  await postEvents(pipeline, tenant, [llmEvent({ id })]);
  await untilDrained(pipeline);
  await postEvents(pipeline, tenant, [llmEvent({ id: id.toUpperCase() })]);
  await untilDrained(pipeline);
  expect(await pipeline.sql`SELECT id FROM events WHERE space_id = ${tenant.spaceId}`).toEqual([{ id }]);
  expect(await countUsage(pipeline, tenant.spaceId)).toBe(1);
});

test('when a batch has two events with the same id, the first one is stored', async () => {
  const tenant = await pipeline.createTenant();
  const first = llmEvent();
  const answer = await postEvents(pipeline, tenant, [first, toolEvent({ id: first.id }), llmEvent()]);
  expect(answer.body).toEqual({ message: 'Queued 3 events.' });
  await untilDrained(pipeline);
  const rows =
    await pipeline.sql`SELECT type FROM events WHERE space_id = ${tenant.spaceId} ORDER BY segment_index`;
  expect(rows.map((row) => row.type)).toEqual(['llm', 'llm']);
});

test('a retried batch creates no second segment', async () => {
  const tenant = await pipeline.createTenant();
  const events = someEvents(5);
  await postEvents(pipeline, tenant, events);
  // A different order of the ids gives a different message id, so the broker does not detect the retry.
  await until(async () => (await countRows(pipeline, tenant.spaceId)) === 5);
  await postRaw(pipeline, tenant, JSON.stringify({ events: [...events].reverse() }, null, 2));
  await untilDrained(pipeline);
  expect(await pipeline.sql`SELECT id FROM segments WHERE space_id = ${tenant.spaceId}`).toHaveLength(1);
});

const minute = 29_333_334;
const at = { startTimeMs: minute * 60_000, endTimeMs: minute * 60_000 + 30, durationMs: 30 };

/**
 * Sends the events twice, and twice without the first one, which makes a different batch: each event counts
 * once.
 */
async function sendRepeatedly(tenant: Tenant, sent: readonly Record<string, unknown>[]): Promise<void> {
  for (let times = 0; times < 2; times++) {
    await postEvents(pipeline, tenant, sent);
    await postEvents(pipeline, tenant, sent.slice(1));
    await untilDrained(pipeline);
  }
}

test('statistics count each event once, by minute, type, model or tool, and source', async () => {
  const tenant = await pipeline.createTenant();
  await sendRepeatedly(tenant, [
    llmEvent(at),
    llmEvent(at),
    llmEvent({ ...at, status: { state: 'error' } }),
    llmEvent({ ...at, instrumentation: { vendor: 'weir', source: 'azure', sourcePackage: 'openai' } }),
    toolEvent({ ...at, startTimeMs: at.startTimeMs - 1 }),
  ]);
  await foldStatistics(pipeline.database);
  const rows = await pipeline.database
    .select()
    .from(eventStats)
    .where(eq(eventStats.spaceId, tenant.spaceId))
    .orderBy(eventStats.minute, eventStats.source);
  const llm = { minute, type: 'llm', name: 'gpt-4o' };
  expect(rows).toMatchObject([
    { minute: minute - 1, type: 'tool', name: 'get_weather', source: 'openai', ...countsOf(1, {}) },
    { ...llm, source: 'azure', ...countsOf(1, { inputTokens: 12, outputTokens: 3, totalTokens: 15 }) },
    {
      ...llm,
      source: 'openai',
      ...countsOf(3, { errors: 1, inputTokens: 36, outputTokens: 9, totalTokens: 45 }),
    },
  ]);
  expect(
    latencyQuantile(
      rows.map(({ latency }) => latency),
      0.5,
    ),
  ).toBeCloseTo(30, -0.5);
});

test('statistics of an agent count its events once, with the details of their tokens', async () => {
  const tenant = await pipeline.createTenant();
  const usage = {
    inputTokens: 10,
    inputTokenDetails: { uncachedTokens: 3, cacheReadTokens: 5, cacheWriteTokens: 2 },
    outputTokens: 4,
    outputTokenDetails: { reasoningTokens: 1, responseTokens: 3 },
    totalTokens: 14,
  };
  const event = { ...at, context: { agentId: 'agent-1' } };
  await sendRepeatedly(tenant, [
    llmEvent({ ...event, properties: { llm: { model: 'a', usage } } }),
    llmEvent({ ...event, durationMs: 3_000, properties: { llm: { model: 'b', usage } } }),
    toolEvent({ ...event, status: { state: 'error' } }),
    llmEvent({ ...event, context: { agentId: 'agent-2' }, properties: { llm: {} } }),
    llmEvent(at),
  ]);
  await foldStatistics(pipeline.database);
  const rows = await pipeline.database
    .select()
    .from(agentStats)
    .where(eq(agentStats.spaceId, tenant.spaceId))
    .orderBy(agentStats.agentId);
  const sums = {
    inputTokens: 20,
    outputTokens: 8,
    totalTokens: 28,
    cacheReadTokens: 10,
    cacheWriteTokens: 4,
    reasoningTokens: 2,
  };
  expect(rows).toMatchObject([
    { minute, agentId: 'agent-1', ...countsOf(3, { errors: 1, ...sums, durationMs: 3_060 }) },
    { minute, agentId: 'agent-2', ...countsOf(1, {}) },
  ]);
  const buckets = (rows[0]?.latency ?? []).flatMap((element) =>
    Array<number>(Number(BigInt.asUintN(countBits, element))).fill(Number(element >> BigInt(countBits))),
  );
  expect(buckets.toSorted((a, b) => a - b)).toEqual([30, 30, 3_000].map(latencyBucketOf));
});

test('sums stay finite, whatever numbers a client reports', async () => {
  const tenant = await pipeline.createTenant();
  const usage = { inputTokens: 1.7e308, outputTokens: -1.7e308 };
  const event = { ...at, durationMs: 8e15, properties: { llm: { usage } } };
  await postEvents(pipeline, tenant, [llmEvent(event), llmEvent(event)]);
  await untilDrained(pipeline);
  await foldStatistics(pipeline.database);
  const [row] = await pipeline.database
    .select()
    .from(eventStats)
    .where(eq(eventStats.spaceId, tenant.spaceId));
  expect(row).toMatchObject({ events: 2, inputTokens: 2e15, outputTokens: null, durationMs: 2e15 });
});

function countsOf(events: number, sums: Partial<typeof eventStats.$inferSelect>) {
  const none = { errors: null, inputTokens: null, outputTokens: null, totalTokens: null };
  const noDetails = { cacheReadTokens: null, cacheWriteTokens: null, reasoningTokens: null };
  return { events, durationMs: 30 * events, ...none, ...noDetails, ...sums };
}
