import { expect, test } from 'vitest';
import { startPipeline } from './support/pipeline.ts';
import { findSchemathesis, runSchemathesis } from './support/schemathesis.ts';
import { countRows, untilDrained } from './support/wait.ts';

const schemathesis = await findSchemathesis();

/** Some 1,500 requests, on a machine that has other things to do. */
const timeout = 180_000;

if ('missing' in schemathesis) {
  const title = `Schemathesis is skipped: ${schemathesis.missing}`;
  // The reporter counts skipped tests, and keeps their titles to itself.
  console.warn(title);
  test.skip(title, () => {});
} else {
  const { python } = schemathesis;
  test.each([
    ['a good key', true],
    ['no key', false],
  ])('Schemathesis finds no answer that is not in the document, with %s', { timeout }, async (_, isGood) => {
    await using pipeline = await startPipeline();
    const { spaceId, apiKey } = await pipeline.createTenant();
    const headers: Record<string, string> = isGood ? { Authorization: `Bearer ${apiKey}` } : {};
    const { exitCode, report } = await runSchemathesis(python, `${pipeline.url}/v1/openapi.json`, headers);
    expect(exitCode, report).toBe(0);
    await untilDrained(pipeline);
    // Among what it sent were good batches: otherwise it has tested only refusals.
    expect((await countRows(pipeline, spaceId)) > 0).toBe(isGood);
    expect(await pipeline.sql`SELECT message FROM quarantine`).toEqual([]);
  });
}
