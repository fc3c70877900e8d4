import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApiKey } from '../../../store/accounts/api-key.ts';
import { issueApiKey, revokeApiKey } from '../../../store/accounts/api-keys.ts';
import { createSpace } from '../../../store/accounts/spaces.ts';
import { openPostgres, type Sql } from '../../../store/db/connect.ts';
import { openDatabase } from '../../../store/db/database.ts';
import { createDatabase } from '../../../test/support/test-servers.ts';
import { ApiKeyCache } from './api-key-cache.ts';

const pepper = 'pepper';
const stack = new AsyncDisposableStack();
let sql: Sql;
let other: Sql;

beforeAll(async () => {
  const { url } = stack.use(await createDatabase());
  sql = stack.use(openPostgres(url, { applicationName: 'test', connectionsMax: 4, statementTimeoutMs: 0 }));
  other = stack.use(openPostgres(url, { applicationName: 'test', connectionsMax: 2, statementTimeoutMs: 0 }));
});
afterAll(() => stack.disposeAsync());

test('look-ups of unknown keys leave connections of the pool free', async () => {
  const cache = new ApiKeyCache(openDatabase(sql), pepper);
  let settled = 0;
  // Open the pool's four connections first: that takes longer than the look-ups below.
  await Promise.all(Array.from({ length: 4 }, () => sql`SELECT pg_sleep(0.1)`));
  const { flood } = await other.begin(async (locking) => {
    // Every look-up has to wait for this lock.
    await locking`LOCK TABLE api_keys IN ACCESS EXCLUSIVE MODE`;
    const found = Array.from({ length: 50 }, () => Promise.allSettled([cache.find(createApiKey())]));
    for (const one of found) void one.then(() => (settled += 1));
    await sql`SELECT 1`;
    expect(settled).toBe(0);
    return { flood: Promise.all(found) };
  });
  for (const [outcome] of await flood) {
    expect(outcome).toMatchObject({
      status: 'rejected',
      reason: { id: expect.stringMatching(/^(unauthorized|ingest_unavailable)$/) },
    });
  }
});

test('a new key is found behind a flood of unknown ones', async () => {
  const cache = new ApiKeyCache(openDatabase(sql), pepper);
  const database = openDatabase(other);
  const { id: spaceId } = await createSpace(database, 'test', {});
  const { apiKey } = await issueApiKey(database, spaceId, { name: 'test', pepper });
  const flood = Array.from({ length: 50 }, () => Promise.allSettled([cache.find(createApiKey())]));
  expect(await cache.find(apiKey)).toMatchObject({ spaceId });
  await Promise.all(flood);
});

test('after a restart a key that existed before does not wait behind a flood of invented ones', async () => {
  const database = openDatabase(other);
  const { id: spaceId } = await createSpace(database, 'test', {});
  const { apiKey } = await issueApiKey(database, spaceId, { name: 'test', pepper });
  const cache = new ApiKeyCache(openDatabase(sql), pepper);
  let settled = 0;
  const flood = Array.from({ length: 2_000 }, () => Promise.allSettled([cache.find(createApiKey())]));
  for (const one of flood) void one.then(() => (settled += 1));
  expect(await cache.find(apiKey)).toMatchObject({ spaceId });
  // With two look-ups at a time, most of the flood is still waiting.
  expect(settled).toBeLessThan(flood.length / 2);
  await Promise.all(flood);
});

test('a key that was found is found by its id, until it is revoked', async () => {
  const database = openDatabase(other);
  const { id: spaceId } = await createSpace(database, 'test', {});
  const { apiKey, keyId } = await issueApiKey(database, spaceId, { name: 'test', pepper });
  const cache = new ApiKeyCache(openDatabase(sql), pepper);
  await cache.find(apiKey);
  // Ids of keys are no secret: pages show them.
  expect(() => cache.find(keyId)).toThrow('The API key is missing or invalid.');
  await revokeApiKey(database, keyId);
  // Not notified yet.
  expect(await cache.findById(keyId)).toMatchObject({ spaceId });
  cache.invalidate(() => true);
  await expect(cache.findById(keyId)).rejects.toMatchObject({ id: 'unauthorized' });
  await expect(cache.find(apiKey)).rejects.toMatchObject({ id: 'unauthorized' });
});
