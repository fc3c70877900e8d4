import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { TcpProxy } from '../../harness/network/tcp-proxy.ts';
import { Weir } from '../../sdk/typescript/src/index.ts';
import { llmEvent } from '../../sdk/typescript/test/support/events.ts';
import { startProgram } from '../../sdk/typescript/test/support/program.ts';
import { type Provider, startProvider } from '../../sdk/typescript/test/support/provider.ts';
import { bigInteger } from '../../sdk/typescript/test/support/provider-bodies.ts';
import { readTrace } from '../../services/dashboard-api/traces/trace.ts';
import { events } from '../../store/db/schema.ts';
import { readEventPage } from '../../store/read/event-page.ts';
import { runWeir } from '../support/cli/command-line.ts';
import { openDashboard } from '../support/dashboard.ts';
import type { Tenant } from '../support/pipeline.ts';
import { usePipeline } from '../support/use-pipeline.ts';
import { until } from '../support/wait.ts';

// The port stays the same when ingest is restarted.
const { pipeline } = usePipeline();
let provider: Provider;
let spool: string;
beforeAll(async () => {
  provider = await startProvider();
  spool = mkdtempSync(join(tmpdir(), 'weir-test-sdk-'));
});
afterAll(async () => {
  await provider[Symbol.asyncDispose]();
  rmSync(spool, { recursive: true });
});

const countRows = async ({ spaceId }: Tenant) => {
  const [row] = await pipeline.sql<{ rows: number; ids: number }[]>`
    SELECT count(*)::int AS rows, count(DISTINCT id)::int AS ids FROM events WHERE space_id = ${spaceId}`;
  return row;
};
const untilStored = (tenant: Tenant, rows: number) =>
  until(async () => (await countRows(tenant))?.rows === rows);

test('calls of the real SDKs reach Postgres once each, with their costs', async () => {
  const tenant = await pipeline.createTenant();
  const weir = new Weir({ url: pipeline.url, apiKey: tenant.apiKey, flushOnExit: false });
  const openai = weir.observe(new OpenAI({ baseURL: provider.url, apiKey: 'k' }));
  const anthropic = weir.observe(new Anthropic({ baseURL: provider.url.replace('/v1', ''), apiKey: 'k' }));
  const messages = [{ role: 'user' as const, content: `Ticket ${bigInteger}` }];
  await weir.trace(
    async () => {
      await openai.chat.completions.create({ model: 'tools', messages });
      await openai.responses.create({ model: 'text', input: 'Hi' });
      await anthropic.messages.create({ model: 'tools', max_tokens: 9, messages });
      await anthropic.messages.create({ model: 'bad-request', max_tokens: 9, messages }).catch(() => {});
      weir.tool('get_weather', () => 'warm')();
    },
    { threadId: 'thread-1' },
  );
  expect(await weir.shutdown()).toEqual({ accepted: 5, dropped: 0, pending: 0 });
  await untilStored(tenant, 5);
  const rows = await pipeline.sql<{ type: string; state: string; tokens: number; threads: string }[]>`
    SELECT type, state, total_tokens::int AS tokens, thread_id AS threads
    FROM events WHERE space_id = ${tenant.spaceId} ORDER BY type, state, tokens`;
  expect(rows.map(({ type, state, tokens }) => [type, state, tokens])).toEqual([
    ['llm', 'error', null],
    ['llm', 'ok', 150],
    ['llm', 'ok', 150],
    ['llm', 'ok', 150],
    ['tool', 'ok', null],
  ]);
  expect(new Set(rows.map(({ threads }) => threads))).toEqual(new Set(['thread-1']));
});

test('the page of a trace shows the spans and tools that its events name, and filters find their dimensions', async () => {
  const tenant = await pipeline.createTenant();
  const weir = new Weir({ url: pipeline.url, apiKey: tenant.apiKey, flushOnExit: false, release: '1.2.3' });
  const named = (model: string) => ({ ...llmEvent(), properties: { llm: { model } } });
  const research = weir.tool('research', () => weir.span('rank', () => weir.record(named('inner'))));
  const { innerId, traceId } = weir.span('plan', ({ traceId: ownTraceId }) => {
    weir.record(named('outer'));
    return { innerId: research(), traceId: ownTraceId };
  });
  await weir.shutdown();
  await untilStored(tenant, 3);
  const shown = await readTrace(
    { ...pipeline, spaceId: tenant.spaceId, openingLimiter: (task) => task() },
    traceId,
  );
  const [plan, rank] = ['plan', 'rank'].map((name) => shown?.spans.find((span) => span.name === name));
  const tool = shown?.events.find(({ type }) => type === 'tool');
  expect(tool).toMatchObject({ name: 'research', above: plan?.id });
  expect(rank).toMatchObject({ kind: 'span', above: tool?.id });
  expect(shown?.events.find(({ id }) => id === innerId)).toMatchObject({
    above: rank?.id,
    parent: { id: tool?.id, isInferred: false },
    missingParentId: null,
  });
  const found = await readEventPage(pipeline.database, tenant.spaceId, {
    columns: { id: events.id, startTimeMs: events.startTimeMs },
    filter: {
      attributes: [
        { key: 'release', value: '1.2.3' },
        { key: 'span.path', value: 'plan > rank' },
      ],
    },
    after: undefined,
    limit: 10,
  });
  expect(found.rows.map(({ id }) => id)).toEqual([innerId]);
});

test('a client killed while ingest is down and started again delivers each event once', async () => {
  const tenant = await pipeline.createTenant();
  const { port } = new URL(pipeline.url);
  await pipeline.ingest.stop('SIGTERM');
  const variables = { WEIR_URL: pipeline.url, WEIR_API_KEY: tenant.apiKey, SPOOL: spool, COUNT: '700' };
  const program = startProgram('wait', variables);
  await program.says();
  program.child.kill('SIGKILL');
  await program.ended;
  pipeline.ingest = await pipeline.start('ingest', { INGEST_PORT: port });
  expect(await startProgram('deliver', variables).says()).toEqual({ accepted: 700, dropped: 0, pending: 0 });
  await untilStored(tenant, 700);
  expect(await countRows(tenant)).toEqual({ rows: 700, ids: 700 });
});

test('a sender with the address of the dashboard is told that of ingest, and a reader the reverse', async () => {
  await using dashboard = await openDashboard({ variables: { INGEST_URL: pipeline.url } });
  const found = `This is Weir's dashboard. Events go to ingest: ${pipeline.url}`;
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const weir = new Weir({ url: dashboard.url, apiKey: 'weir_key', flushOnExit: false });
  weir.record(llmEvent());
  expect(await weir.flush()).toMatchObject({ pending: 1 });
  expect(warn.mock.calls).toEqual([[expect.stringContaining(found)]]);
  warn.mockRestore();
  const file = join(spool, 'events.ndjson');
  writeFileSync(file, '{"id":"e"}\n');
  const sending = { WEIR_URL: dashboard.url, WEIR_API_KEY: 'weir_key' };
  expect((await runWeir(['send', file], sending)).stderr).toContain(found);
  const reading = { WEIR_DASHBOARD_URL: pipeline.url, WEIR_READ_KEY: 'weir_read_x' };
  for (const command of ['charts', 'export', 'tail']) {
    expect((await runWeir([command], reading)).stderr).toContain("is not a dashboard: This is Weir's ingest");
  }
  const tenant = await pipeline.createTenant();
  const { id, ...event } = { id: crypto.randomUUID(), ...llmEvent() };
  const times = { startTimeMs: Date.now(), endTimeMs: Date.now(), status: { state: 'ok' } };
  const instrumentation = { vendor: 'weir', source: 's', sourcePackage: 's' };
  writeFileSync(
    file,
    `${JSON.stringify({ id, ...event, ...times, instrumentation, context: {}, additionalProperties: {} })}\n`,
  );
  const right = { WEIR_URL: pipeline.url, WEIR_API_KEY: tenant.apiKey };
  expect(await runWeir(['send', file], right)).toMatchObject({ exitCode: 0 });
  await untilStored(tenant, 1);
});

test('one invalid event of a batch is dropped, and the reason from ingest is reported', async () => {
  const tenant = await pipeline.createTenant();
  const details: (string | undefined)[] = [];
  const weir = new Weir({
    url: pipeline.url,
    apiKey: tenant.apiKey,
    flushOnExit: false,
    onDrop: (report) => details.push(report.details),
  });
  for (let i = 0; i < 30; i++) weir.record(llmEvent('Hi', i === 17 ? { startTimeMs: Number.NaN } : {}));
  expect(await weir.shutdown()).toEqual({ accepted: 29, dropped: 1, pending: 0 });
  expect(details).toEqual([expect.stringMatching(/^events\[17\]\.startTimeMs /)]);
});

test('events sent after the quota is exhausted are dropped and counted by that reason', async () => {
  const tenant = await pipeline.createTenant({ monthlyEventLimit: 10 });
  const weir = new Weir({ url: pipeline.url, apiKey: tenant.apiKey, flushOnExit: false });
  for (let batch = 0; batch < 2; batch++) {
    for (let i = 0; i < 10; i++) weir.record(llmEvent());
    await weir.flush();
    await untilStored(tenant, 10);
  }
  expect(await weir.shutdown()).toMatchObject({ pending: 0 });
  expect(weir.stats()).toMatchObject({ accepted: 10, droppedByReason: { quota: 10 } });
});

test('while the network drops, slows down or corrupts data, each event is stored and counted once', async () => {
  const tenant = await pipeline.createTenant();
  await using proxy = await TcpProxy.open(Number(new URL(pipeline.url).port));
  const weir = new Weir({ url: `http://127.0.0.1:${proxy.port}`, apiKey: tenant.apiKey, flushOnExit: false });
  const faults: (() => void | Promise<void>)[] = [
    () => proxy.resetMidFrame(),
    () => proxy.trickle(200_000),
    () => proxy.cut(),
    () => garbleReplies(proxy),
    () => proxy.delay(50),
    () => proxy.reset(),
    () => loseReplies(proxy),
  ];
  let recorded = 0;
  for (const fault of [...faults, ...faults]) {
    await fault();
    for (let i = 0; i < 40; i++) weir.record(llmEvent('How warm is it? '.repeat(50)));
    recorded += 40;
    await weir.flush({ timeoutMs: 700 });
    proxy.makeReplyFilter = undefined;
    // Kept-alive connections still have the old filter.
    proxy.reset();
    await proxy.heal();
  }
  await until(async () => (await weir.flush()).pending === 0);
  expect(weir.stats()).toMatchObject({ recorded, accepted: recorded, dropped: 0, pending: 0 });
  await untilStored(tenant, recorded);
  expect(await countRows(tenant)).toEqual({ rows: recorded, ids: recorded });
});

/** Changes every byte of responses, so that they are not valid HTTP. */
function garbleReplies(proxy: TcpProxy): void {
  proxy.reset();
  proxy.makeReplyFilter = () => (chunk) => chunk.map((byte) => byte ^ 0x15) as Buffer;
}

/** Drops responses: the events are stored, but the client does not learn it. */
function loseReplies(proxy: TcpProxy): void {
  proxy.reset();
  proxy.makeReplyFilter = () => () => undefined;
}
