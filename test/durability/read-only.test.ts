import { expect, test } from 'vitest';
import { someEvents } from '../../harness/fixtures/events.ts';
import { openDatabaseOutage } from '../support/database-outage.ts';
import { postEvents } from '../support/http.ts';
import { startPipeline } from '../support/pipeline.ts';
import { countRows, until, untilDrained } from '../support/wait.ts';

test('the writer stores events again after Postgres was read-only, although old sessions stay read-only', async () => {
  await using pipeline = await startPipeline();
  const tenant = await pipeline.createTenant();
  await using outage = openDatabaseOutage(pipeline);
  const alter = (change: string) => outage.admin.unsafe(`ALTER DATABASE "${outage.name}" ${change}`);
  // Ingest knows the key: that of an unknown one would need the connection that is terminated below.
  expect((await postEvents(pipeline, tenant, [])).status).toBe(202);
  await alter('SET default_transaction_read_only = on');
  await outage.terminate();
  expect((await postEvents(pipeline, tenant, someEvents(3))).status).toBe(202);
  await until(() => pipeline.writer.log().includes('"25006"'));
  await alter('RESET default_transaction_read_only');
  await untilDrained(pipeline);
  expect(await countRows(pipeline, tenant.spaceId)).toBe(3);
});
