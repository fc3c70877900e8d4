import { expect, test } from 'vitest';
import { startPipeline } from '../support/pipeline.ts';
import { findSchemathesis, runSchemathesis } from '../support/tools/schemathesis.ts';
import { countRows, untilDrained } from '../support/wait.ts';

const schemathesis = await findSchemathesis();

/** For about 1,500 requests, on a machine that runs other tests too. */
const timeout = 180_000;

if ('missing' in schemathesis) {
  const title = `Schemathesis is skipped: ${schemathesis.missing}`;
  // The reporter prints only the number of skipped tests.
  console.warn(title);
  test.skip(title, () => {});
} else {
  const { python } = schemathesis;
  test.each([
    ['a valid key', true],
    ['no key', false],
  ])(
    'with %s, Schemathesis finds no response that differs from the document',
    { timeout },
    async (_, isGood) => {
      await using pipeline = await startPipeline();
      const { spaceId, apiKey } = await pipeline.createTenant();
      const headers: Record<string, string> = isGood ? { Authorization: `Bearer ${apiKey}` } : {};
      const { exitCode, report } = await runSchemathesis(python, `${pipeline.url}/v1/openapi.json`, headers);
      expect(exitCode, report).toBe(0);
      await untilDrained(pipeline);
      // Shows that some of the generated batches were valid.
      expect((await countRows(pipeline, spaceId)) > 0).toBe(isGood);
      expect(await pipeline.sql`SELECT message FROM quarantine`).toEqual([]);
    },
  );
}
