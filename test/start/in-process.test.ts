import { expect, test } from 'vitest';
import { toolEvent } from '../../harness/fixtures/events.ts';
import { openDatabaseOutage } from '../support/database-outage.ts';
import { expectQueued, postEvents } from '../support/http.ts';
import { startPipeline } from '../support/pipeline.ts';
import { usePipeline } from '../support/use-pipeline.ts';
import { countRows, untilDrained } from '../support/wait.ts';

const { pipeline, tenant } = usePipeline();

test('two services of a kind in one process work independently: one stops, the other goes on', async () => {
  const [ingest, writer] = await Promise.all([pipeline.start('ingest'), pipeline.start('writer')]);
  const url = ingest.ready.url ?? '';
  expect(url).not.toBe(pipeline.url);
  expectQueued(await postEvents(pipeline, tenant, [toolEvent()]), 1);
  expectQueued(await postEvents({ url }, tenant, [toolEvent()]), 1);
  await Promise.all([pipeline.ingest.stop('SIGTERM'), writer.stop('SIGTERM')]);
  await expect(postEvents(pipeline, tenant, [toolEvent()])).rejects.toThrow('fetch failed');
  expectQueued(await postEvents({ url }, tenant, [toolEvent()]), 1);
  await untilDrained(pipeline);
  expect(await countRows(pipeline, tenant.spaceId)).toBe(3);
  expect(ingest.log()).not.toMatch(/"level":[56]0/);
});

test('services stop in order while nats-server or Postgres is away', async () => {
  await using away = await startPipeline();
  await using outage = openDatabaseOutage(away);
  const [ingest, writer] = [await away.start('ingest'), await away.start('writer')];
  await outage.begin();
  await Promise.all([ingest, writer].map((service) => service.stop('SIGTERM')));
  await outage.end();
  await away.nats.stop();
  await Promise.all([away.ingest, away.writer].map((service) => service.stop('SIGTERM')));
});
