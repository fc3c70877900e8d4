import { spawn } from 'node:child_process';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrateToBaseline } from '../../harness/fixtures/baseline/database.ts';
import { baselineParameters, baselineStatement } from '../../harness/fixtures/baseline/statement.ts';
import { llmEvent, someEvents } from '../../harness/fixtures/events.ts';
import { partOf } from '../../harness/fixtures/part.ts';
import { createApiKey, hashApiKey } from '../../lib/accounts/api-key.ts';
import { openPostgres, type Sql } from '../../lib/db/connect.ts';
import { type Database, openDatabase } from '../../lib/db/database.ts';
import { migrateDatabase } from '../../lib/db/migrate.ts';
import { readEventTexts } from '../../lib/segment/read.ts';
import { permanentErrorOf } from '../../lib/write/permanent-error.ts';
import { runWeirProcess } from '../support/cli/command-line.ts';
import { postEvents } from '../support/http.ts';
import { pepper } from '../support/pipeline.ts';
import { inheritedEnvironment } from '../support/run/compile-cache.ts';
import { startService } from '../support/service-process.ts';
import { createDatabase, startNats } from '../support/test-servers.ts';
import { countRows, countUsage, until, untilDrained } from '../support/wait.ts';

/** More than the fill copies with one statement, several times. */
const bulkRows = 100_000;

const resources = new AsyncDisposableStack();
let url: string;
let sql: Sql;
let database: Database;
let nats: Awaited<ReturnType<typeof startNats>>;
beforeAll(async () => {
  url = resources.use(await createDatabase({ template: 'template1' })).url;
  const pool = { applicationName: 'test', connectionsMax: 2, statementTimeoutMs: 0 };
  sql = resources.use(openPostgres(url, pool));
  database = openDatabase(resources.use(openPostgres(url, pool)));
  nats = resources.use(await startNats());
});
afterAll(() => resources.disposeAsync());

const storeAsBefore = (parts: ReturnType<typeof partOf>[]) =>
  sql.unsafe<{ inserted: number }[]>(baselineStatement, baselineParameters(parts));

/** Many rows of one segment: what they hold does not matter here. */
async function storeBulk(spaceId: string): Promise<void> {
  await sql`
    INSERT INTO events (space_id, id, segment_id, segment_index, received_at, start_time_ms, end_time_ms, duration_ms, type, state, source)
    SELECT ${spaceId}, gen_random_uuid(), segment_id, n, received_at, n, n, 0, 'llm', 'ok', 'bulk'
    FROM generate_series(1, ${bulkRows}) AS n, (SELECT segment_id, received_at FROM events LIMIT 1) AS other`;
  await sql`
    UPDATE usage_months SET events = events + ${bulkRows} WHERE space_id = ${spaceId}`;
}

/** Runs `weir migrate` until it has copied some ids, and kills it. */
async function migrateAndKill(): Promise<void> {
  const main = fileURLToPath(new URL('../../cli/main.ts', import.meta.url));
  const child = spawn(execPath, [main, 'migrate'], { env: { ...inheritedEnvironment(), DATABASE_URL: url } });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (/\b[1-9][\d,]* of about/.test(text)) child.kill('SIGKILL');
  });
  await new Promise((resolve) => child.once('exit', resolve));
}

test('an old database is migrated in place while ingest accepts: every id is stored and billed once', async () => {
  await migrateToBaseline(database);
  // The schema of today has columns that the old table lacks.
  const [space] = await sql<{ id: string }[]>`INSERT INTO spaces (name) VALUES ('old') RETURNING id`;
  const spaceId = space?.id ?? '';
  const apiKey = createApiKey();
  const [key] = await sql<{ keyId: string }[]>`
    INSERT INTO api_keys (space_id, name, hash, last_four)
    VALUES (${spaceId}, 'test', ${hashApiKey(apiKey, pepper)}, ${apiKey.slice(-4)}) RETURNING id AS "keyId"`;
  const tenant = { spaceId, apiKey, keyId: key?.keyId ?? '' };
  const old = someEvents(40);
  // Of an event that was replayed from quarantine, the segment had the random id of the event.
  const replayed = llmEvent({ id: 'f0000000-0000-4000-8000-000000000001' });
  await storeAsBefore([partOf(spaceId, old)]);
  await storeAsBefore([partOf(spaceId, [replayed], { segmentId: String(replayed.id) })]);
  await storeBulk(spaceId);

  const variables = {
    DATABASE_URL: url,
    NATS_URL: nats.url,
    NATS_MONITOR_URL: nats.monitorUrl,
    API_KEY_PEPPER: pepper,
    INGEST_PORT: '0',
    QUEUE_BYTES_MAX: String(64 * 1024 ** 2),
  };
  await using ingest = await startService('ingest', variables);
  const target = { url: ingest.ready.url ?? '' };
  const before = someEvents(10);
  expect((await postEvents(target, tenant, [...before, ...old.slice(0, 20), replayed])).status).toBe(202);
  const starting = startService('writer', variables);
  await migrateAndKill();
  const [fill] = await sql`SELECT copied::integer, completed_at FROM ledger_fills`;
  expect(fill?.copied).toBeGreaterThan(0);
  expect(fill?.completed_at).toBeNull();
  // Nothing is stored yet, although a writer runs: it could not tell which ids are new.
  expect(await countRows({ sql }, spaceId)).toBe(bulkRows + 41);
  const during = someEvents(10);
  expect((await postEvents(target, tenant, [...during, ...old.slice(20)])).status).toBe(202);
  // A writer of the version before gives its messages back; quarantine would be wrong.
  const refused: unknown = await storeAsBefore([partOf(spaceId, during)]).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: '42P10' });
  expect(permanentErrorOf(refused)).toBeUndefined();

  const migrated = await runWeirProcess(['migrate'], { DATABASE_URL: url });
  expect(migrated).toMatchObject({ exitCode: 0, stdout: '{"migrated":true}\n' });
  expect(migrated.stderr).toMatch(/ids are in the ledger/);
  await using _writer = await starting;
  await untilDrained({ nats });
  const rows = bulkRows + 41 + before.length + during.length;
  expect(await countRows({ sql }, spaceId)).toBe(rows);
  expect(await countUsage({ database }, spaceId)).toBe(rows);
  const [ids] = await sql`
    SELECT count(*)::integer AS all, (SELECT count(*)::integer FROM events JOIN event_ids USING (space_id, id)) AS stored
    FROM event_ids`;
  expect(ids).toEqual({ all: rows, stored: rows });
  expect(await sql`SELECT id FROM quarantine`).toHaveLength(0);
  const [statistics] = await sql`SELECT sum(events)::integer AS events FROM event_stats`;
  expect(statistics?.events).toBe(rows - bulkRows);
  // What was counted before the roll-ups were there is in them.
  const rollups = await sql`
    SELECT span_hours, sum(events)::integer AS events FROM event_stats_rollups GROUP BY 1 ORDER BY 1`;
  expect(rollups).toEqual([1, 6].map((hours) => ({ span_hours: hours, events: rows - bulkRows })));
  const shown = [old[0], replayed, before[0]];
  const locators = await sql<{ id: string; segmentId: string; segmentIndex: number }[]>`
    SELECT id, segment_id AS "segmentId", segment_index AS "segmentIndex" FROM events
    WHERE space_id = ${spaceId} AND id = ANY(${`{${shown.map((event) => event?.id).join()}}`}::uuid[])`;
  const texts = await readEventTexts(database, spaceId, locators);
  expect(texts.toSorted()).toEqual(shown.map((event) => JSON.stringify(event)).toSorted());
  // The indexes that the first partitions lack are built in the background.
  await until(async () => {
    const [index] = await sql`
      SELECT FROM pg_inherits WHERE inhrelid = to_regclass('events_initial_by_segment')`;
    return index !== undefined;
  });
  // Migrating again changes nothing.
  await migrateDatabase(url);
  expect(await countRows({ sql }, spaceId)).toBe(rows);
});
