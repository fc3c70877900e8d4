import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { jetstream } from '@nats-io/jetstream';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { llmEvent, toolEvent } from '../../harness/fixtures/events.ts';
import { pauseTree } from '../../harness/system/process-tree.ts';
import { createWeirDirectory, type LaunchedWeir } from '../../harness/system/weir.ts';
import type { Connection } from '../../launcher/local-system.ts';
import { connectQueue } from '../../platform/queue/connect.ts';
import { firstStream } from '../../platform/queue/settings.ts';
import { createApiKey } from '../../store/accounts/api-key.ts';
import { openClient } from '../support/dashboard.ts';
import { postEvents, postRaw } from '../support/http.ts';
import { until } from '../support/wait.ts';

/** A text in every field of the events and in every invalid input. No log may contain it. */
const canary = `canary-${randomUUID()}`;

/** All values that no log may contain. */
const secrets: string[] = [canary];

const weir = createWeirDirectory();
let launched: LaunchedWeir;
let connection: Connection;
let sql: postgres.Sql;
beforeAll(async () => {
  launched = weir.launch({ LOG_LEVEL: 'trace' });
  await launched.ready();
  connection = weir.connection();
  const { apiKey, password, databaseUrl, natsUrl } = connection;
  secrets.push(apiKey, password, new URL(databaseUrl).password, new URL(natsUrl).password);
  secrets.push(JSON.parse(readFileSync(join(weir.dataDir, 'secrets.json'), 'utf8')).apiKeyPepper);
  sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
});
afterAll(async () => {
  await sql?.end({ timeout: 1 });
  await weir[Symbol.asyncDispose]();
});

const ingest = () => ({ url: connection.ingestUrl });
const readLog = (name: string) => readFileSync(join(weir.dataDir, 'logs', `${name}.log`), 'utf8');

/** Events with the canary in every text that a client controls. */
function canaryEvents() {
  const common = {
    status: { state: 'error', error: { code: canary, httpStatus: canary, message: canary } },
    instrumentation: { vendor: 'weir', source: canary, sourcePackage: canary, sourceFunction: canary },
    context: { threadId: canary, agentId: canary, agentGroupId: canary, userId: canary },
    additionalProperties: { [canary]: canary },
    [canary]: canary,
  };
  const llm = { model: canary, input: { system: canary, prompt: canary }, output: { response: canary } };
  const tool = { name: canary, input: { [canary]: canary }, output: canary };
  return [llmEvent({ ...common, properties: { llm } }), toolEvent({ ...common, properties: { tool } })];
}

test('valid and invalid requests of clients', async () => {
  const { apiKey } = connection;
  expect((await postEvents(ingest(), { apiKey }, canaryEvents())).status).toBe(202);
  const invalidBodies = [
    canary,
    `{"events":["${canary}"`,
    JSON.stringify({ events: [{ ...llmEvent(), id: canary, [canary]: canary }] }),
    JSON.stringify({ events: [llmEvent({ type: canary, durationMs: canary, traceId: canary })] }),
    JSON.stringify({ events: [llmEvent({ additionalProperties: { [canary]: [canary] } })] }),
    canary.repeat(200_000),
  ];
  for (const body of invalidBodies) {
    expect((await postRaw(ingest(), { apiKey }, body)).status).toBeGreaterThanOrEqual(400);
  }
  const truncated = gzipSync(JSON.stringify({ events: canaryEvents() })).subarray(0, -5);
  const headers = { 'content-encoding': 'gzip' };
  expect((await postRaw(ingest(), { apiKey }, truncated, { headers })).status).toBe(400);
  const unknownKey = createApiKey();
  secrets.push(unknownKey);
  for (const key of [unknownKey, `weir_${canary}`, `${apiKey} ${canary}`]) {
    expect((await postEvents(ingest(), { apiKey: key }, canaryEvents())).status).toBe(401);
  }
  const rpc = await fetch(`${connection.ingestUrl}/weir.ingest.v1.IngestService/IngestEvents`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ events: [{ id: canary, startTimeMs: canary }] }),
  });
  expect(rpc.status).toBe(400);
});

test('events that Postgres rejects, and a message that cannot be decoded', async () => {
  await sql.unsafe(`ALTER TABLE events ADD CONSTRAINT no_canary CHECK (thread_id <> '${canary}') NOT VALID`);
  const { apiKey, natsUrl } = connection;
  expect((await postEvents(ingest(), { apiKey }, [...canaryEvents(), llmEvent()])).status).toBe(202);
  await using queue = await connectQueue(natsUrl, 'test');
  await jetstream(queue).publish(firstStream.subject, Buffer.from(canary));
  const countQuarantined = async () => (await sql`SELECT FROM quarantine`).length;
  await until(async () => (await countQuarantined()) === 3);
  // The lines are written after the rows are committed.
  await until(() => readLog('writer').includes('"quarantined":2'));
  await until(() => readLog('postgres').includes('violates check constraint'));
});

test('a queue and a database that fail', async () => {
  const { apiKey } = connection;
  const nats = weir.pidOf('nats-server');
  await pauseTree(nats);
  expect((await postEvents(ingest(), { apiKey }, canaryEvents())).status).toBe(503);
  process.kill(nats, 'SIGCONT');
  await until(() => readLog('ingest').includes('not committed'));
  process.kill(weir.pidOf('postgres'), 'SIGKILL');
  // For some milliseconds its backends still answer.
  await until(() => launched.output().includes('postgres restarted'));
  await until(async () => (await postEvents(ingest(), { apiKey }, [llmEvent()])).status === 202);
  await until(() => sql`SELECT 1`.then(() => true).catch(() => false));
  await until(async () => (await fetch(`${connection.dashboardUrl}/readyz`)).status === 200);
});

test('valid and invalid calls of the dashboard API, and calls that fail', async () => {
  const { dashboardUrl, email, password, spaceId } = connection;
  const client = openClient(dashboardUrl);
  const { trpc } = client;
  const wrong = { data: { code: 'UNAUTHORIZED' } };
  await expect(trpc.auth.signIn.mutate({ email, password: canary })).rejects.toMatchObject(wrong);
  const unknown = { email: `${canary}@x.org`, password: canary };
  await expect(trpc.auth.signIn.mutate(unknown)).rejects.toMatchObject(wrong);
  await trpc.auth.signIn.mutate({ email, password });
  secrets.push(client.cookie?.split('=')[1] ?? 'no cookie');
  const list = () => trpc.events.list.query({ spaceId, threadId: canary, userId: canary, name: canary });
  const [row] = (await list()).events;
  expect((await trpc.events.get.query({ spaceId, id: row?.id ?? '' })).event).toContain(canary);
  await expect(trpc.events.list.query({ spaceId, cursor: canary })).rejects.toMatchObject({
    data: { code: 'BAD_REQUEST' },
  });
  const invalid = await fetch(`${dashboardUrl}/trpc/auth.signIn`, { method: 'POST', body: `{${canary}` });
  expect(invalid.status).toBeGreaterThanOrEqual(400);
  await sql`ALTER TABLE events RENAME TO events_renamed`;
  await expect(list()).rejects.toMatchObject({ data: { code: 'INTERNAL_SERVER_ERROR' } });
  await sql`ALTER TABLE events_renamed RENAME TO events`;
  expect(readLog('dashboard-api')).toContain('42P01');
});

test('no log contains content, a key, a password or a token', async () => {
  const names = readdirSync(join(weir.dataDir, 'logs')).map((file) => file.replace(/\.log$/, ''));
  expect(names.sort()).toEqual(['dashboard-api', 'ingest', 'nats-server', 'postgres', 'writer']);
  expect(secrets.length).toBe(8);
  const found = names.flatMap((name) =>
    readLog(name)
      .split('\n')
      .filter((line) => secrets.some((secret) => line.includes(secret)))
      .map((line) => `${name}: ${line.slice(0, 500)}`),
  );
  expect(found).toEqual([]);
});
