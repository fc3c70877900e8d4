import { expect, test } from 'vitest';
import { llmEvent } from '../../harness/fixtures/events.ts';
import { keyCacheMs } from '../../services/ingest/admit/api-key-cache.ts';
import { revokeApiKey } from '../../store/accounts/api-keys.ts';
import { openPostgres } from '../../store/db/connect.ts';
import { postEvents } from '../support/http.ts';
import { startPipeline } from '../support/pipeline.ts';
import { openPostgresProxy } from '../support/postgres-proxy.ts';
import { openService } from '../support/service.ts';
import { createDatabase } from '../support/test-servers.ts';
import { until } from '../support/wait.ts';

test('a statement on a silently dead connection fails, and the next one gets a new connection', async () => {
  await using database = await createDatabase();
  await using postgres = await openPostgresProxy();
  const options = { applicationName: 'test', connectionsMax: 1, statementTimeoutMs: 500 };
  await using sql = openPostgres(postgres.through(database.url), options);
  await sql`SELECT 1`;
  postgres.proxy.abandon();
  await expect(sql`SELECT 2`).rejects.toThrow();
  expect(await sql`SELECT 3 AS three`).toEqual([{ three: 3 }]);
});

test('a key that is revoked while the notification connection is dead is rejected when ingest detects that', async () => {
  await using pipeline = await startPipeline();
  await using postgres = await openPostgresProxy();
  await using ingest = await openService('ingest', {
    ...pipeline.variables,
    DATABASE_URL: postgres.through(pipeline.variables.DATABASE_URL ?? ''),
  });
  const tenant = await pipeline.createTenant();
  const post = () => postEvents({ url: ingest.ready.url ?? '' }, tenant, [llmEvent()]);
  expect((await post()).status).toBe(202);
  // The last query of a listening connection is LISTEN, or later the keep-alive query.
  const countListeners = async () =>
    (
      await pipeline.sql`SELECT FROM pg_stat_activity WHERE datname = current_database()
        AND application_name = 'weir-ingest-listen' AND query ~ '^(LISTEN|SELECT 1)'`
    ).length;
  await until(async () => (await countListeners()) === 2);
  postgres.proxy.abandon();
  await revokeApiKey(pipeline.database, tenant.keyId);
  // Ingest detects the dead connections for LISTEN and for look-ups one after the other, before a cached key
  // expires.
  await until(async () => (await post()).status === 401, keyCacheMs - 5_000);
});
