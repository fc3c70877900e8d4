import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { someEvents } from '../../harness/fixtures/events.ts';
import { pauseTree } from '../../harness/system/process-tree.ts';
import { postEvents } from '../support/http.ts';
import { startPipeline } from '../support/pipeline.ts';
import { countRows, countUsage, until, untilDrained } from '../support/wait.ts';

test('while nats-server is paused, waiting batches get 503 together, and a later retry creates no second row', async () => {
  await using pipeline = await startPipeline();
  const tenant = await pipeline.createTenant();
  const batches = Array.from({ length: 8 }, () => someEvents(5));
  const [first] = batches;
  expect((await postEvents(pipeline, tenant, first)).status).toBe(202);
  await pauseTree(pipeline.nats.pid);
  const answers = await Promise.all(batches.map((batch) => postEvents(pipeline, tenant, batch)));
  expect(answers.map(({ status }) => status)).toEqual(batches.map(() => 503));
  // One time-out for all waiting batches, not one for each.
  const failures = [...pipeline.ingest.log().matchAll(/"batches":(\d+),"msg":"not committed"/g)];
  expect(failures.length).toBeLessThanOrEqual(2);
  expect(failures.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(batches.length);
  expect(answers[0]?.headers.get('retry-after')).toBe('1');
  process.kill(pipeline.nats.pid, 'SIGCONT');
  for (const batch of batches)
    await until(async () => (await postEvents(pipeline, tenant, batch)).status === 202);
  await untilDrained(pipeline);
  expect(await countRows(pipeline, tenant.spaceId)).toBe(40);
  expect(await countUsage(pipeline, tenant.spaceId)).toBe(40);
});

test('after the queue lost acknowledged messages, ingest reports queue-loss, keeps running and answers 503', async () => {
  await using pipeline = await startPipeline();
  const tenant = await pipeline.createTenant();
  for (let batches = 0; batches < 3; batches++) await postEvents(pipeline, tenant, someEvents(1));
  const readiness = async () =>
    (await (await fetch(`${pipeline.url}/readyz`)).json()) as { waitingFor: string[] };
  expect(await readiness()).toMatchObject({ ready: true, waitingFor: [] });
  process.kill(pipeline.nats.pid, 'SIGKILL');
  await pipeline.nats.exited;
  rmSync(join(pipeline.nats.storeDir, 'jetstream'), { recursive: true });
  await pipeline.nats.restart();
  await until(async () => (await readiness()).waitingFor.includes('queue-loss'));
  expect(pipeline.ingest.log()).toContain('ALARM');
  expect((await postEvents(pipeline, tenant, someEvents(1))).status).toBe(503);
});
