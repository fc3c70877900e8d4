import { expect, test } from 'vitest';
import { llmEvent, someEvents } from '../../harness/fixtures/events.ts';
import { createApiKey, hashApiKey } from '../../store/accounts/api-key.ts';
import { issueApiKey, revokeApiKey } from '../../store/accounts/api-keys.ts';
import { changeSpace } from '../../store/accounts/spaces.ts';
import { apiKeys } from '../../store/db/schema.ts';
import { postEvents } from '../support/http.ts';
import { pepper, startPipeline, type Tenant } from '../support/pipeline.ts';
import { usePipeline } from '../support/use-pipeline.ts';
import { countRows, untilApplied, untilDrained } from '../support/wait.ts';

const { pipeline } = usePipeline();

const errorId = (body: unknown) => (body as { error?: { id?: string } }).error?.id;
const post = (tenant: Tenant, events = [llmEvent()]) => postEvents(pipeline, tenant, events);
const untilAnswered = (tenant: Tenant, status: number) =>
  untilApplied(async () => (await post(tenant)).status === status);

test('a revoked key is rejected within a second, and other keys of the space are not', async () => {
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

test('a key that was tried before it existed is accepted within a second of its creation', async () => {
  const { spaceId } = await pipeline.createTenant();
  const apiKey = createApiKey();
  const tenant = { spaceId, keyId: '', apiKey };
  expect((await post(tenant)).status).toBe(401);
  await pipeline.database
    .insert(apiKeys)
    .values({ spaceId, name: 'early', hash: hashApiKey(apiKey, pepper), lastFour: '' });
  await untilAnswered(tenant, 202);
});

test('a read key cannot send events', async () => {
  const { spaceId } = await pipeline.createTenant();
  const read = await issueApiKey(pipeline.database, spaceId, {
    name: 'read',
    pepper,
    scope: 'administration',
  });
  expect((await post({ spaceId, ...read })).status).toBe(401);
  // Neither one that has the shape of other keys: the scope decides.
  const apiKey = createApiKey();
  await pipeline.database
    .insert(apiKeys)
    .values({ spaceId, name: 'forged', hash: hashApiKey(apiKey, pepper), lastFour: '', scope: 'events' });
  expect((await post({ spaceId, keyId: '', apiKey })).status).toBe(401);
});

test('a key is rejected when it has expired', async () => {
  const tenant = await pipeline.createTenant();
  expect((await post(tenant)).status).toBe(202);
  await pipeline.sql`UPDATE api_keys SET expires_at = now() + interval '300 ms' WHERE id = ${tenant.keyId}`;
  await untilAnswered(tenant, 401);
});

test('inactive billing is answered with 402, and changes to it are applied within a second', async () => {
  const tenant = await pipeline.createTenant({ billingState: 'inactive' });
  const answer = await post(tenant);
  expect([answer.status, errorId(answer.body)]).toEqual([402, 'billing_not_active']);
  await changeSpace(pipeline.database, tenant.spaceId, { billingState: 'active' });
  await untilAnswered(tenant, 202);
  await changeSpace(pipeline.database, tenant.spaceId, { billingState: 'inactive' });
  await untilAnswered(tenant, 402);
});

test('the batch that crosses the limit is accepted completely, and the next one is rejected', async () => {
  const tenant = await pipeline.createTenant({ monthlyEventLimit: 10 });
  expect((await post(tenant, someEvents(7))).status).toBe(202);
  expect((await post(tenant, someEvents(7))).status).toBe(202);
  const { status, body, headers } = await post(tenant);
  expect(status).toBe(402);
  const resetSeconds = Number(headers.get('weir-quota-reset'));
  expect(new Date(Date.now() + resetSeconds * 1_000 + 1_000).getUTCDate()).toBe(1);
  expect(body).toEqual({
    error: {
      id: 'usage_limit_exceeded',
      title: 'Usage limit exceeded',
      status: 402,
      details: expect.stringMatching(/used 14 of the 10 .* resets at \d{4}-\d{2}-01T00:00:00\.000Z/),
    },
  });
  await untilDrained(pipeline);
  expect(await countRows(pipeline, tenant.spaceId)).toBe(14);
});

test('retries use no quota', async () => {
  const tenant = await pipeline.createTenant({ monthlyEventLimit: 10 });
  const events = someEvents(9);
  for (let attempt = 0; attempt < 5; attempt++) {
    // Each attempt is a different message to the broker, so only the database can detect the retry.
    expect((await post(tenant, events.slice(0, 9 - attempt))).status).toBe(202);
  }
  expect((await post(tenant)).status).toBe(202);
  expect((await post(tenant)).status).toBe(402);
});

test('a limit is applied and removed within a second', async () => {
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

test('concurrent clients overshoot the limit by no more than what was in flight', async () => {
  const [limit, clients, batchEvents] = [100, 8, 10];
  const tenant = await pipeline.createTenant({ monthlyEventLimit: limit });
  let accepted = 0;
  const sendUntilRejected = async () => {
    for (;;) {
      const { status } = await post(tenant, someEvents(batchEvents));
      if (status !== 202) return status;
      accepted += batchEvents;
    }
  };
  const ends = await Promise.all(Array.from({ length: clients }, sendUntilRejected));
  expect(new Set(ends)).toEqual(new Set([402]));
  expect(accepted).toBeGreaterThanOrEqual(limit);
  // When a batch reaches the limit, every other client has at most one batch in flight.
  expect(accepted).toBeLessThanOrEqual(limit + (clients - 1) * batchEvents);
  await untilDrained(pipeline);
  expect(await countRows(pipeline, tenant.spaceId)).toBe(accepted);
});

test('a batch of a space that cannot accept events is answered without parsing its body', async () => {
  const tenant = await pipeline.createTenant({ billingState: 'inactive' });
  const { status } = await postEvents(pipeline, tenant, [{ no: 'event' }]);
  expect(status).toBe(402);
});

test('a retry dropped by the queue is counted as a repeat, not as an event, when ingest stops', async () => {
  await using own = await startPipeline();
  const tenant = await own.createTenant();
  const events = someEvents(4);
  for (let attempt = 0; attempt < 3; attempt++) {
    expect((await postEvents(own, tenant, events)).status).toBe(202);
  }
  await untilDrained(own);
  await own.ingest.stop('SIGTERM');
  expect(await own.sql`SELECT api_key_id AS key, events::integer, repeats::integer FROM usage_days`).toEqual([
    { key: tenant.keyId, events: 4, repeats: 8 },
  ]);
});

test('ingest writes the last-used time of a key when it stops, at the latest', async () => {
  await using own = await startPipeline();
  const tenant = await own.createTenant();
  expect((await postEvents(own, tenant, [llmEvent()])).status).toBe(202);
  await own.ingest.stop('SIGTERM');
  const [key] =
    await own.sql`SELECT last_used_at > now() - interval '1 minute' AS used FROM api_keys WHERE id = ${tenant.keyId}`;
  expect(key).toEqual({ used: true });
});
