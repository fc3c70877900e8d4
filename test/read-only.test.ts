import { expect, test } from 'vitest';
import { openPostgres } from '../lib/db/connect.ts';
import { someEvents } from './support/events.ts';
import { postEvents } from './support/http.ts';
import { startPipeline } from './support/pipeline.ts';
import { countRows, until, untilDrained } from './support/wait.ts';

test('a Postgres that was read-only for a while is written to again, although its sessions stay read-only', async () => {
  await using pipeline = await startPipeline();
  const tenant = await pipeline.createTenant();
  const maintenance = new URL(pipeline.variables.DATABASE_URL ?? '');
  const name = maintenance.pathname.slice(1);
  maintenance.pathname = '/postgres';
  const options = { applicationName: 'test', connectionsMax: 1, statementTimeoutMs: 0 };
  await using admin = openPostgres(maintenance.href, options);
  await admin.unsafe(`ALTER DATABASE "${name}" SET default_transaction_read_only = on`);
  await admin`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = ${name} AND application_name LIKE 'weir-%'`;
  expect((await postEvents(pipeline, tenant, someEvents(3))).status).toBe(202);
  await until(() => pipeline.writer.log().includes('"25006"'));
  await admin.unsafe(`ALTER DATABASE "${name}" RESET default_transaction_read_only`);
  await untilDrained(pipeline);
  expect(await countRows(pipeline, tenant.spaceId)).toBe(3);
});
