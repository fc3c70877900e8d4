import { randomUUIDv7 } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { someEvents } from '../../harness/fixtures/events.ts';
import { partOf } from '../../harness/fixtures/part.ts';
import { createDatabase } from '../../test/support/test-servers.ts';
import { until } from '../../test/support/wait.ts';
import { openPostgres, type Sql } from '../db/connect.ts';
import { storeOnlyNewStatement, storeParameters, storeStatement } from './statement.ts';

/**
 * Statements of a space lock the row of its usage before that of its commit counter. The order is that in
 * which Postgres runs CTEs that nothing reads, which no document promises: with another order, statements of
 * one space could deadlock.
 */

const resources = new AsyncDisposableStack();
let sql: Sql;
beforeAll(async () => {
  const { url } = resources.use(await createDatabase());
  sql = resources.use(
    openPostgres(url, { applicationName: 'test', connectionsMax: 4, statementTimeoutMs: 60_000 }),
  );
});
afterAll(() => resources.disposeAsync());

/**
 * Which of the two rows a store statement has locked while it waits for the one that another transaction
 * holds.
 */
async function lockedWhileHeld(statement: typeof storeStatement, held: string): Promise<string[]> {
  const spaceId = randomUUIDv7();
  const store = () =>
    sql.unsafe(statement.text, storeParameters(statement, [partOf(spaceId, someEvents(1))]));
  await store();
  const locked: string[] = [];
  let stored: PromiseLike<unknown> | undefined;
  await sql.begin(async (holder) => {
    await holder`SELECT FROM ${holder(held)} WHERE space_id = ${spaceId} FOR UPDATE`;
    stored = store().execute();
    await until(async () => {
      const waiting = await sql`
        SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      return waiting.length === 1;
    });
    for (const table of ['usage_months', 'commit_counters']) {
      const free = await sql`SELECT FROM ${sql(table)} WHERE space_id = ${spaceId} FOR UPDATE SKIP LOCKED`;
      if (table !== held && free.length === 0) locked.push(table);
    }
  });
  await stored;
  return locked;
}

test.each([
  ['store statement', storeStatement],
  ['store statement for new events only', storeOnlyNewStatement],
])('the %s locks the commit counter of a space last', async (_, statement) => {
  expect(await lockedWhileHeld(statement, 'commit_counters')).toEqual(['usage_months']);
  expect(await lockedWhileHeld(statement, 'usage_months')).toEqual([]);
});
