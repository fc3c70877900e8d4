import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { llmEvent } from '../../harness/fixtures/events.ts';
import { insertParts } from '../../harness/fixtures/insert-parts.ts';
import { partOf } from '../../harness/fixtures/part.ts';
import { createDatabase } from '../../test/support/test-servers.ts';
import { openPostgres } from '../db/connect.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { events } from '../db/schema.ts';
import { readEventPage } from './event-page.ts';

const columns = { id: events.id, startTimeMs: events.startTimeMs };
const firstMs = 1_760_000_000_000;
const segmentEvents = 200;

/** Number of rows returned by the indexes on start times of events. */
async function countWalked(database: Database): Promise<number> {
  await database.execute(sql`SELECT pg_stat_force_next_flush()`);
  const [row] = await database.execute<{ read: number }>(sql`
    SELECT coalesce(sum(idx_tup_read), 0)::integer AS read FROM pg_stat_user_indexes
    WHERE relname LIKE 'events%' AND pg_get_indexdef(indexrelid) LIKE '%start_time_ms%'`);
  return row?.read ?? Number.NaN;
}

test('a generic plan for a list of a user in a time range reads segments and walks no index on start times', async () => {
  await using resources = new AsyncDisposableStack();
  const { url } = resources.use(await createDatabase());
  // Prepared plans and session statistics belong to a connection.
  const options = { applicationName: 'test', connectionsMax: 1, statementTimeoutMs: 30_000 };
  const database = openDatabase(resources.use(openPostgres(url, options)));
  await database.execute(sql`SET plan_cache_mode = force_generic_plan`);
  const spaceId = randomUUID();
  for (let segment = 0; segment < 60; segment++) {
    const stored = Array.from({ length: segmentEvents }, (_, place) => {
      const startTimeMs = firstMs + segment * segmentEvents + place;
      const userId = place === 0 && segment % 4 === 0 ? 'rare' : 'frequent';
      return llmEvent({ startTimeMs, endTimeMs: startTimeMs, context: { userId } });
    });
    await insertParts(database, [partOf(spaceId, stored)]);
  }
  await database.execute(sql`ANALYZE`);
  const range = { from: firstMs, to: firstMs + 60 * segmentEvents };
  const read = (filter: object) =>
    readEventPage(database, spaceId, {
      columns,
      filter: { ...range, ...filter },
      after: undefined,
      limit: 50,
    });
  const before = await countWalked(database);
  expect((await read({ userId: 'rare' })).rows).toHaveLength(15);
  expect(await countWalked(database)).toBe(before);
  // Checks that the counter works at all.
  expect((await read({ type: 'llm' })).rows).toHaveLength(50);
  expect(await countWalked(database)).toBeGreaterThan(before);
});
