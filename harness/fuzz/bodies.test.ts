import fc from 'fast-check';
import { expect, test } from 'vitest';
import { startPipeline } from '../../test/support/pipeline.ts';
import { untilDrained } from '../../test/support/wait.ts';
import { anyBody } from './bodies.ts';
import { outcomeInProcess, outcomeOverHttp } from './outcome.ts';

// `npm run fuzz` does the same with more bodies.

test('any body is accepted, or rejected according to the contract', () => {
  fc.assert(
    fc.property(anyBody, (body) => void outcomeInProcess(body)),
    { numRuns: 2_000 },
  );
});

test('a service answers the same, and no accepted event goes to quarantine', async () => {
  await using pipeline = await startPipeline();
  const { apiKey } = await pipeline.createTenant();
  const answer = fc.asyncProperty(anyBody, async (body) => {
    expect(await outcomeOverHttp(pipeline.url, apiKey, body)).toBe(outcomeInProcess(body));
  });
  await fc.assert(answer, { numRuns: 300 });
  await untilDrained(pipeline);
  expect(await pipeline.sql`SELECT message FROM quarantine`).toEqual([]);
});
