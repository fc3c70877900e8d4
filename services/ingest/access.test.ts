import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApiKey } from '../../lib/access/api-key.ts';
import { issueApiKey } from '../../lib/access/api-keys.ts';
import { createSpace } from '../../lib/access/spaces.ts';
import { openPostgres, type Sql } from '../../lib/db/connect.ts';
import { openDatabase } from '../../lib/db/database.ts';
import { createDatabase } from '../../test/support/backing.ts';
import { AccessDirectory } from './access.ts';

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

test('a flood of keys that nobody knows leaves connections to Postgres for others', async () => {
  const directory = new AccessDirectory(sql, pepper);
  let settled = 0;
  // Opening a connection takes longer than anything below.
  await Promise.all(Array.from({ length: 4 }, () => sql`SELECT pg_sleep(0.1)`));
  const { flood } = await other.begin(async (locking) => {
    // Whoever looks a key up now waits.
    await locking`LOCK TABLE api_keys IN ACCESS EXCLUSIVE MODE`;
    const found = Array.from({ length: 50 }, () => Promise.allSettled([directory.find(createApiKey())]));
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

test('a new key is found behind a flood of others', async () => {
  const directory = new AccessDirectory(sql, pepper);
  const database = openDatabase(other);
  const { id: spaceId } = await createSpace(database, 'test', {});
  const { apiKey } = await issueApiKey(database, spaceId, { name: 'test', pepper });
  const flood = Array.from({ length: 50 }, () => Promise.allSettled([directory.find(createApiKey())]));
  expect(await directory.find(apiKey)).toMatchObject({ spaceId });
  await Promise.all(flood);
});
