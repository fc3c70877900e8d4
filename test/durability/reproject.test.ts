import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { execPath } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { projectionVersion } from '../../event/projection.ts';
import { anyTerm, inSpace } from '../../event/terms.ts';
import { llmEvent, toolEvent } from '../../harness/fixtures/events.ts';
import { insertParts } from '../../harness/fixtures/insert-parts.ts';
import { partOf } from '../../harness/fixtures/part.ts';
import { eraseEvents } from '../../operations/erasure/erase.ts';
import { connectQueue } from '../../platform/queue/connect.ts';
import { openPostgres, type Sql } from '../../store/db/connect.ts';
import { type Database, openDatabase } from '../../store/db/database.ts';
import { events } from '../../store/db/schema.ts';
import type { EventFilter } from '../../store/read/event-filter.ts';
import { readEventPage } from '../../store/read/event-page.ts';
import { foldStatistics } from '../../store/write/statistics/fold.ts';
import { runWeir } from '../support/cli/command-line.ts';
import { inheritedEnvironment } from '../support/run/inherited-environment.ts';
import { createDatabase, startNats } from '../support/test-servers.ts';

const resources = new AsyncDisposableStack();
let url: string;
let sql: Sql;
let database: Database;
const [old, fresh] = ['01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-00000000000b'];
beforeAll(async () => {
  url = resources.use(await createDatabase()).url;
  const open = () =>
    openDatabase(
      resources.use(openPostgres(url, { applicationName: 'test', connectionsMax: 3, statementTimeoutMs: 0 })),
    );
  sql = resources.use(
    openPostgres(url, { applicationName: 'test', connectionsMax: 1, statementTimeoutMs: 0 }),
  );
  database = open();
});
afterAll(() => resources.disposeAsync());

/**
 * An event with distinct values in every column. Durations and tokens are integers, so that sums are exact.
 */
function makeEvent(i: number) {
  const tokens = {
    inputTokens: i,
    outputTokens: 2 * i,
    totalTokens: 3 * i,
    ...(i % 4 === 0 && {
      inputTokenDetails: { cacheReadTokens: i, cacheWriteTokens: 1, cacheWriteHourTokens: 1 },
      outputTokenDetails: { reasoningTokens: 7 },
    }),
  };
  const llm = {
    model: `model-${i % 3}`,
    input: { prompt: `prompt ${i}` },
    output: { response: 'x' },
    usage: tokens,
    ...(i % 5 === 0 && { serviceTier: 'priority' }),
    ...(i % 7 === 0 && { cost: { total: i, currency: 'USD' } }),
  };
  const changes = {
    startTimeMs: 1_760_000_000_000 + i * 7_000,
    durationMs: (i % 5) * 40 * i,
    traceId: randomUUID(),
    status:
      i % 6 === 0 ? { state: 'error', error: { code: `code-${i % 12}`, message: 'm' } } : { state: 'ok' },
    instrumentation: { vendor: 'weir', source: `source-${i % 2}`, sourcePackage: 'p' },
    context: {
      threadId: `thread-${i % 9}`,
      userId: `user-${i % 7}`,
      agentId: `agent-${i % 4}`,
      agentGroupId: 'g',
    },
    additionalProperties: { plan: `plan-${i % 8}`, n: i },
  };
  return i % 10 === 9
    ? toolEvent({ ...changes, properties: { tool: { name: 'tool', input: { i }, output: 'done' } } })
    : llmEvent({ ...changes, properties: { llm } });
}

/** Requests with three events each. */
const requests = (from: number, to: number) =>
  Array.from({ length: (to - from) / 3 }, (_, n) => [0, 1, 2].map((i) => makeEvent(from + 3 * n + i)));
const renamed = (batch: Record<string, unknown>[]) => batch.map((event) => ({ ...event, id: randomUUID() }));

/** A part as 0.1.0 queued it, which counted what was sent. */
function asStoredBefore(batch: Record<string, unknown>[]) {
  const part = partOf(old, batch);
  const usages = batch.map(
    (event) => (event as { properties: { llm?: { usage: SentUsage } } }).properties.llm?.usage,
  );
  const listOf = (pick: (usage: SentUsage) => number | undefined) =>
    usages.map((usage) => (usage && pick(usage)) ?? 'NULL').join();
  Object.assign(part.columns ?? {}, {
    inputTokens: listOf((usage) => usage.inputTokens),
    cacheReadTokens: listOf((usage) => usage.inputTokenDetails?.cacheReadTokens),
    ...{ usageParts: '', priceClass: '', reportedCost: '' },
  });
  return part;
}

interface SentUsage {
  readonly inputTokens: number;
  readonly inputTokenDetails?: { readonly cacheReadTokens: number };
}

/** All that statistics have of a space, but for rows without anything in them. */
const statisticsOf = async (spaceId: string) => {
  while ((await foldStatistics(database)) > 0);
  return Promise.all(
    [
      'event_stats',
      'event_stats_rollups',
      'agent_stats',
      'agent_stats_rollups',
      'slice_stats',
      'slice_stats_rollups',
    ].map((table) =>
      sql.unsafe(`
        SELECT to_jsonb(stats) - '{space_id,latency}'::text[] AS row FROM ${table} AS stats
        WHERE space_id = '${spaceId}' AND (events > 0 OR num_nonnulls(input_tokens, output_tokens, total_tokens) > 0 OR coalesce(to_jsonb(stats) ->> 'usage_units', '0') <> '0')
        ORDER BY 1`),
    ),
  );
};

/** The columns of a space's events, except ids. */
const columnsOf = (spaceId: string) => sql`
  SELECT to_jsonb(e) - '{space_id,id,segment_id,segment_index,received_at,trace_id}'::text[] AS row FROM events AS e
  WHERE space_id = ${spaceId} ORDER BY start_time_ms`;

async function found(spaceId: string, filter: EventFilter) {
  const columns = { id: events.id, startTimeMs: events.startTimeMs };
  const page = await readEventPage(database, spaceId, { columns, filter, after: undefined, limit: 1_000 });
  return page.rows.map(({ startTimeMs }) => startTimeMs);
}

/** Starts `weir reproject` and kills it after it has done some segments. */
async function reprojectAndKill(): Promise<void> {
  const main = fileURLToPath(new URL('../../cli/main.ts', import.meta.url));
  const child = spawn(execPath, [main, 'reproject'], {
    env: { ...inheritedEnvironment(), DATABASE_URL: url },
  });
  child.stderr.setEncoding('utf8').on('data', () => child.kill('SIGKILL'));
  await new Promise((resolve) => child.once('exit', resolve));
}

test('outdated segments get current columns and terms while a writer runs, and after a kill', async () => {
  for (const [id, name] of [
    [old, 'old'],
    [fresh, 'fresh'],
  ])
    await sql.unsafe(`INSERT INTO spaces (id, name) VALUES ('${id}', '${name}')`);
  const stored = requests(3, 363);
  for (const batch of stored) await insertParts(database, [asStoredBefore(batch)]);
  // Simulates an older version without some columns and terms.
  await sql`UPDATE events SET error_code = NULL, attributes = NULL, agent_group_id = NULL,
    cache_read_tokens = NULL, cache_write_tokens = NULL, reasoning_tokens = NULL`;
  await sql`UPDATE segments SET terms = ${`{${inSpace(old, [anyTerm]).join()}}`}, projection = ${projectionVersion - 1}`;
  // One event is erased first.
  await using server = await startNats();
  await using nats = await connectQueue(server.url, 'test');
  await using one = openPostgres(url, { applicationName: 'test', connectionsMax: 1, statementTimeoutMs: 0 });
  const gone = stored[5]?.[1];
  const subject = { kind: 'thread', value: 'gone' } as const;
  await sql`UPDATE events SET thread_id = 'gone' WHERE id = ${String(gone?.id)}`;
  expect(
    (await eraseEvents({ database: openDatabase(one), connection: nats }, old, { subject })).erased,
  ).toMatchObject({ events: 1 });

  // Meanwhile a writer stores events with the same minutes, models, sources and agents.
  const later: Record<string, unknown>[][] = [];
  let isOver = false;
  const writing = (async () => {
    for (let from = 3; !isOver; from = from === 360 ? 3 : from + 3) {
      const [batch = []] = requests(from, from + 3);
      await insertParts(database, [partOf(old, batch)]);
      later.push(batch);
      // All of them are stored again below, for comparison.
      await sleep(20);
    }
  })();
  await reprojectAndKill();
  const [left] =
    await sql`SELECT count(*)::integer AS segments FROM segments WHERE projection <> ${projectionVersion}`;
  expect(left?.segments).toBeGreaterThan(0);
  expect(left?.segments).toBeLessThan(stored.length);
  const { exitCode, stdout } = await runWeir(['reproject', '--space', old], { DATABASE_URL: url });
  isOver = true;
  await writing;
  expect({ exitCode, ...JSON.parse(stdout) }).toMatchObject({
    exitCode: 0,
    segments: left?.segments,
    damaged: [],
  });

  // The same events except the erased one, stored by the current writer.
  for (const batch of [...stored, ...later])
    await insertParts(database, [partOf(fresh, renamed(batch.filter((event) => event !== gone)))]);
  expect(await columnsOf(old)).toEqual(await columnsOf(fresh));
  const termsOf = (spaceId: string) => sql`
    SELECT (SELECT count(*) FROM unnest(terms))::integer AS terms, min_start_ms, max_start_ms FROM segments
    WHERE space_id = ${spaceId} ORDER BY max_start_ms, 1`;
  expect(await termsOf(old)).toEqual(await termsOf(fresh));

  const filters: EventFilter[] = [
    ...[{ type: 'tool' as const }, { state: 'error' as const }, { name: 'model-1' }, { source: 'source-1' }],
    ...[{ threadId: 'thread-4' }, { agentId: 'agent-2' }, { agentGroupId: 'g' }, { userId: 'user-3' }],
    ...[
      { errorCode: 'code-6' },
      { attributes: [{ key: 'plan', value: 'plan-5' }] },
      { minDurationMs: 9_000 },
    ],
    { text: 'prompt 17', from: 1_760_000_000_000, to: 1_770_000_000_000 },
    { userId: 'user-3', state: 'error', source: 'source-0' },
    { attributes: [{ key: 'n', value: '40' }], name: 'model-1' },
  ];
  for (const filter of filters) {
    const times = await found(old, filter);
    expect(times.length).toBeGreaterThan(0);
    expect(times).toEqual(await found(fresh, filter));
  }
  const traceId = String(stored[0]?.[0]?.traceId);
  expect(await found(old, { traceId })).toEqual([stored[0]?.[0]?.startTimeMs]);

  // The erased event has not come back.
  expect(await sql`SELECT FROM events WHERE id = ${String(gone?.id)}`).toHaveLength(0);

  // Statistics are those of the current version. They count the erased event, too.
  if (gone !== undefined) await insertParts(database, [partOf(fresh, renamed([gone]))]);
  expect(await statisticsOf(old)).toEqual(await statisticsOf(fresh));

  // A second run has nothing to do.
  const again = await runWeir(['reproject'], { DATABASE_URL: url });
  expect(JSON.parse(again.stdout)).toEqual({ segments: 0, events: 0, damaged: [] });
}, 240_000);
