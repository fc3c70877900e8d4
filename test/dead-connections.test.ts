import { expect, test } from 'vitest';
import { revokeApiKey } from '../lib/access/api-keys.ts';
import { openPostgres } from '../lib/db/connect.ts';
import { keyCacheMs } from '../lib/limits.ts';
import { TcpProxy } from '../scripts/chaos/proxy.ts';
import { createDatabase } from './support/backing.ts';
import { llmEvent } from './support/events.ts';
import { postEvents } from './support/http.ts';
import { startPipeline } from './support/pipeline.ts';
import { startService } from './support/service-process.ts';
import { until } from './support/wait.ts';

/** A way to a Postgres that can die without a word. */
async function openWay(databaseUrl: string) {
  const proxy = await TcpProxy.open(Number(new URL(databaseUrl).port));
  const url = new URL(databaseUrl);
  url.port = String(proxy.port);
  return { proxy, url: url.href, [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose]() };
}

test('a statement on a connection that died in silence fails, and the next one gets another connection', async () => {
  await using database = await createDatabase();
  await using way = await openWay(database.url);
  const options = { applicationName: 'test', connectionsMax: 1, statementTimeoutMs: 500 };
  await using sql = openPostgres(way.url, options);
  await sql`SELECT 1`;
  way.proxy.abandon();
  await expect(sql`SELECT 2`).rejects.toThrow();
  expect(await sql`SELECT 3 AS three`).toEqual([{ three: 3 }]);
});

test('a key that was revoked while nobody could tell ingest is refused as soon as that is noticed', async () => {
  await using pipeline = await startPipeline();
  await using way = await openWay(pipeline.variables.DATABASE_URL ?? '');
  await using ingest = await startService('ingest', { ...pipeline.variables, DATABASE_URL: way.url });
  const tenant = await pipeline.createTenant();
  const post = () => postEvents({ url: ingest.ready.url ?? '' }, tenant, [llmEvent()]);
  expect((await post()).status).toBe(202);
  const countListeners = async () =>
    (
      await pipeline.sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'`
    ).length;
  await until(async () => (await countListeners()) === 2);
  way.proxy.abandon();
  await revokeApiKey(pipeline.database, tenant.keyId);
  // The connections to listen on and to ask on are found dead one after the other, and before any answer is stale.
  await until(async () => (await post()).status === 401, keyCacheMs - 5_000);
});
