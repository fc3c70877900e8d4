import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApiKey, hashApiKey } from '../lib/access/api-key.ts';
import { issueApiKey, revokeApiKey } from '../lib/access/api-keys.ts';
import { changeSpace } from '../lib/access/spaces.ts';
import { llmEvent, someEvents } from './support/events.ts';
import { postEvents } from './support/http.ts';
import { type Pipeline, pepper, startPipeline, type Tenant } from './support/pipeline.ts';
import { countRows, until, untilDrained } from './support/wait.ts';

/** How soon a change must be in force (issue of the contract: within a second). */
const appliedWithinMs = 1_000;

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await startPipeline();
});
afterAll(() => pipeline?.[Symbol.asyncDispose]());

const errorId = (body: unknown) => (body as { error?: { id?: string } }).error?.id;
const post = (tenant: Tenant, events = [llmEvent()]) => postEvents(pipeline, tenant, events);
const untilAnswered = (tenant: Tenant, status: number) =>
  until(async () => (await post(tenant)).status === status, appliedWithinMs);

test('a revoked key is refused within a second, and other keys of the space are not', async () => {
  const tenant = await pipeline.createTenant();
  const other = {
    ...tenant,
    ...(await issueApiKey(pipeline.database, tenant.spaceId, { name: 'other', pepper })),
  };
  expect((await post(tenant)).status).toBe(202);
  await revokeApiKey(pipeline.database, tenant.keyId);
  await untilAnswered(tenant, 401);
  expect((await post(other)).status).toBe(202);
});

test('a key that was tried too early works as soon as it is made', async () => {
  const { spaceId } = await pipeline.createTenant();
  const apiKey = createApiKey();
  const tenant = { spaceId, keyId: '', apiKey };
  expect((await post(tenant)).status).toBe(401);
  await pipeline.sql`
    INSERT INTO api_keys (space_id, name, hash, last_four) VALUES (${spaceId}, 'early', ${hashApiKey(apiKey, pepper)}, '')`;
  await untilAnswered(tenant, 202);
});

test('an expired key is refused at its time', async () => {
  const tenant = await pipeline.createTenant();
  await pipeline.sql`UPDATE api_keys SET expires_at = now() + interval '300 ms' WHERE id = ${tenant.keyId}`;
  await untilAnswered(tenant, 202);
  await untilAnswered(tenant, 401);
});

test('billing that is not active is answered with 402, and applied both ways within a second', async () => {
  const tenant = await pipeline.createTenant({ billingState: 'inactive' });
  const answer = await post(tenant);
  expect([answer.status, errorId(answer.body)]).toEqual([402, 'billing_not_active']);
  await changeSpace(pipeline.database, tenant.spaceId, { billingState: 'active' });
  await untilAnswered(tenant, 202);
  await changeSpace(pipeline.database, tenant.spaceId, { billingState: 'inactive' });
  await untilAnswered(tenant, 402);
});

test('the batch that crosses the limit is accepted whole, and the very next one is refused', async () => {
  const tenant = await pipeline.createTenant({ monthlyEventLimit: 10 });
  expect((await post(tenant, someEvents(7))).status).toBe(202);
  expect((await post(tenant, someEvents(7))).status).toBe(202);
  const { status, body } = await post(tenant);
  expect(status).toBe(402);
  expect(body).toEqual({
    error: {
      id: 'usage_limit_exceeded',
      title: 'Usage limit exceeded',
      status: 402,
      details: expect.stringMatching(/used 14 of the 10 .* starts anew at \d{4}-\d{2}-01T00:00:00\.000Z/),
    },
  });
  await untilDrained(pipeline);
  expect(await countRows(pipeline, tenant.spaceId)).toBe(14);
});

test('retries burn no quota', async () => {
  const tenant = await pipeline.createTenant({ monthlyEventLimit: 10 });
  const events = someEvents(9);
  for (let attempt = 0; attempt < 5; attempt++) {
    // Each attempt is another message to the broker, so that only the database can tell it is a retry.
    expect((await post(tenant, events.slice(0, 9 - attempt))).status).toBe(202);
  }
  expect((await post(tenant)).status).toBe(202);
  expect((await post(tenant)).status).toBe(402);
});

test('a limit is applied within a second, and lifted within a second', async () => {
  const tenant = await pipeline.createTenant();
  await post(tenant, someEvents(5));
  await changeSpace(pipeline.database, tenant.spaceId, { monthlyEventLimit: 5 });
  await untilAnswered(tenant, 402);
  await changeSpace(pipeline.database, tenant.spaceId, { monthlyEventLimit: 1_000 });
  await untilAnswered(tenant, 202);
  await changeSpace(pipeline.database, tenant.spaceId, { monthlyEventLimit: 0 });
  await untilAnswered(tenant, 402);
  await changeSpace(pipeline.database, tenant.spaceId, { monthlyEventLimit: null });
  await untilAnswered(tenant, 202);
});

test('64 batches at once at the edge overshoot by no more than what was in flight', async () => {
  const tenant = await pipeline.createTenant({ monthlyEventLimit: 100 });
  const answers = await Promise.all(Array.from({ length: 64 }, () => post(tenant, someEvents(10))));
  const accepted = answers.filter(({ status }) => status === 202).length;
  expect(answers.every(({ status }) => status === 202 || status === 402)).toBe(true);
  expect(accepted).toBeGreaterThanOrEqual(10);
  await untilDrained(pipeline);
  expect(await countRows(pipeline, tenant.spaceId)).toBe(accepted * 10);
  expect((await post(tenant)).status).toBe(402);
});

test('the answer to a refused space comes without its body being parsed', async () => {
  const tenant = await pipeline.createTenant({ billingState: 'inactive' });
  const { status } = await postEvents(pipeline, tenant, [{ no: 'event' }]);
  expect(status).toBe(402);
});

test('when a key was last used is written down when ingest ends, at the latest', async () => {
  await using own = await startPipeline();
  const tenant = await own.createTenant();
  await postEvents(own, tenant, [llmEvent()]);
  await own.ingest.stop('SIGTERM');
  const [key] =
    await own.sql`SELECT last_used_at > now() - interval '1 minute' AS used FROM api_keys WHERE id = ${tenant.keyId}`;
  expect(key).toEqual({ used: true });
});
