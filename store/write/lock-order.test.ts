import { randomUUIDv7 } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { someEvents } from '../../harness/fixtures/events.ts';
import { partOf } from '../../harness/fixtures/part.ts';
import { createDatabase } from '../../test/support/test-servers.ts';
import { until } from '../../test/support/wait.ts';
import { openPostgres, type Sql } from '../db/connect.ts';
import { openDatabase } from '../db/database.ts';
import { applyChanges } from '../traces/apply-changes.ts';
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

/** Which of the two rows a statement has locked while it waits for the one that another transaction holds. */
async function lockedWhileHeld(
  spaceId: string,
  run: () => PromiseLike<unknown>,
  held: string,
): Promise<string[]> {
  const locked: string[] = [];
  let running: Promise<unknown> | undefined;
  await sql.begin(async (holder) => {
    await holder`SELECT FROM ${holder(held)} WHERE space_id = ${spaceId} FOR UPDATE`;
    running = Promise.resolve(run());
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
  await running;
  return locked;
}

const store = (spaceId: string, statement = storeStatement) =>
  sql.unsafe(statement.text, storeParameters(statement, [partOf(spaceId, someEvents(1))])).execute();

async function lockedByStore(statement: typeof storeStatement, held: string): Promise<string[]> {
  const spaceId = randomUUIDv7();
  await store(spaceId);
  return lockedWhileHeld(spaceId, () => store(spaceId, statement), held);
}

/** The change of a trace removes the only event of a space. */
async function lockedByChange(held: string): Promise<string[]> {
  const [spaceId, traceId] = [randomUUIDv7(), randomUUIDv7()];
  await store(spaceId);
  await sql`INSERT INTO traces (space_id, trace_id, version, spans, has_calls, received_at)
    VALUES (${spaceId}, ${traceId}, 1, 1, true, now())`;
  const [stored] = await sql<
    { id: string; segmentId: string; hash: string; body: string; rawBytes: number }[]
  >`
    SELECT events.id, segment_id AS "segmentId", encode(sha256(body), 'hex') AS hash, encode(body, 'base64') AS body,
      raw_bytes::float8 AS "rawBytes"
    FROM events JOIN segments ON segments.id = segment_id WHERE events.space_id = ${spaceId}`;
  if (stored === undefined) throw new Error('the event is missing');
  const { id, segmentId, ...body } = stored;
  const edit = { ...body, removed: 1, isEmpty: true };
  const changes = {
    ...{ nodes: [], fills: [], replaced: [], measures: [] },
    traces: [{ traceId, version: 1, nextVersion: 2, isResolved: true }],
    removed: [{ traceId, id, segmentId, spanId: '' }],
    segments: [{ id: segmentId, terms: [], edit }],
  };
  const change = async () => expect(await applyChanges(openDatabase(sql), spaceId, changes)).toBe(true);
  return lockedWhileHeld(spaceId, change, held);
}

test.each([
  ['store statement', storeStatement],
  ['store statement for new events only', storeOnlyNewStatement],
])('the %s locks the commit counter of a space last', async (_, statement) => {
  expect(await lockedByStore(statement, 'commit_counters')).toEqual(['usage_months']);
  expect(await lockedByStore(statement, 'usage_months')).toEqual([]);
});

test('the change of a trace locks the commit counter of its space last', async () => {
  expect(await lockedByChange('commit_counters')).toEqual(['usage_months']);
  expect(await lockedByChange('usage_months')).toEqual([]);
});
