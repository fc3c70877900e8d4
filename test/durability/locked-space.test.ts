import { expect, test } from 'vitest';
import { llmEvent } from '../../harness/fixtures/events.ts';
import { postEvents } from '../support/http.ts';
import { usePipeline } from '../support/use-pipeline.ts';
import { countRows, countUsage, until, untilDrained } from '../support/wait.ts';

const { pipeline } = usePipeline();

test('while a transaction locks the counters of a space, events of other spaces are stored; its own follow later', async () => {
  const [locked, free] = [await pipeline.createTenant(), await pipeline.createTenant()];
  const post = async () => {
    const sent = await Promise.all(
      [locked, free].map((tenant) => postEvents(pipeline, tenant, [llmEvent()])),
    );
    expect(sent.map(({ status }) => status)).toEqual([202, 202]);
  };
  await post();
  await untilDrained(pipeline);
  const release = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const holding = pipeline.sql.begin(async (sql) => {
    // The transaction stays idle for the whole test, also on a slow machine.
    await sql`SET LOCAL idle_in_transaction_session_timeout = 0`;
    await sql`SELECT FROM usage_months WHERE space_id = ${locked.spaceId} FOR UPDATE`;
    held.resolve();
    await release.promise;
  });
  await held.promise;
  // Both spaces share messages and writer statements.
  for (let i = 0; i < 20; i++) await post();
  await until(async () => (await countRows(pipeline, free.spaceId)) === 21);
  expect(await countRows(pipeline, locked.spaceId)).toBe(1);
  release.resolve();
  await holding;
  await until(async () => (await countRows(pipeline, locked.spaceId)) === 21);
  await untilDrained(pipeline);
  for (const { spaceId } of [locked, free]) {
    expect(await countRows(pipeline, spaceId)).toBe(21);
    expect(await countUsage(pipeline, spaceId)).toBe(21);
  }
});
