import { expect, test } from 'vitest';
import { startPipeline } from '../support/pipeline.ts';

test('rejections for lack of memory are summarised in the log as warnings, and all of them are counted', async () => {
  await using pipeline = await startPipeline({ INGEST_BYTES_IN_FLIGHT_MAX: '1000' });
  const { apiKey } = await pipeline.createTenant();
  const post = async () => {
    const answer = await fetch(`${pipeline.url}/v1/ingest-events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}` },
      body: ' '.repeat(2_000),
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  const requests = 300;
  const statuses = await Promise.all(Array.from({ length: requests }, post));
  expect(new Set(statuses)).toEqual(new Set([503]));
  expect(await pipeline.ingest.stop('SIGTERM')).toBe(0);
  const entries = pipeline.ingest
    .log()
    .split('\n')
    // The line of each request, at debug, has the error as its outcome.
    .filter((line) => line.includes('"id":"ingest_unavailable"'))
    .map((line) => JSON.parse(line) as { level: number; requests: number });
  expect(new Set(entries.map(({ level }) => level))).toEqual(new Set([40]));
  expect(entries.reduce((sum, entry) => sum + entry.requests, 0)).toBe(requests);
  expect(entries.length).toBeLessThan(requests / 4);
  expect(pipeline.ingest.log()).not.toMatch(/"level":[56]0/);
});
