import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { openPostgres } from '../lib/db/connect.ts';
import { costlyBatchesMax } from '../lib/limits.ts';
import { llmEvent, someEvents, toolEvent } from './support/events.ts';
import { postEvents } from './support/http.ts';
import { startPipeline } from './support/pipeline.ts';
import { countRows, until, untilDrained } from './support/wait.ts';

test('past the bytes that ingest may hold the answer is 503 with Retry-After, and nothing else is affected', async () => {
  await using pipeline = await startPipeline({ INGEST_BYTES_IN_FLIGHT_MAX: '1000000' });
  const tenant = await pipeline.createTenant();
  const large = toolEvent({ properties: { tool: { input: 'x'.repeat(1_200_000) } } });
  const answer = await postEvents(pipeline, tenant, [large]);
  expect(answer.status).toBe(503);
  expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expect(answer.body).toMatchObject({ error: { id: 'ingest_unavailable' } });
  expect((await postEvents(pipeline, tenant, [llmEvent()])).status).toBe(202);
});

test('a space that stalls leaves room for the others', async () => {
  await using pipeline = await startPipeline({ INGEST_BYTES_IN_FLIGHT_MAX: '4000000' });
  const [stalling, other] = [await pipeline.createTenant(), await pipeline.createTenant()];
  const { hostname, port } = new URL(pipeline.url);
  await using sockets = new AsyncDisposableStack();
  for (let times = 0; times < 20; times++) {
    const socket = sockets.adopt(connect(Number(port), hostname), (one) => void one.destroy());
    socket.on('error', () => {});
    const head = `POST /v1/ingest-events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${stalling.apiKey}\r\nContent-Length: 900000\r\n\r\n`;
    socket.write(head + ' '.repeat(600_000));
  }
  const large = toolEvent({ properties: { tool: { input: 'x'.repeat(900_000) } } });
  await until(async () => (await postEvents(pipeline, stalling, [large])).status === 503);
  expect((await postEvents(pipeline, other, [large])).status).toBe(202);
});

test('a client that goes away in the middle of its body leaves nothing behind', async () => {
  await using pipeline = await startPipeline({ INGEST_BYTES_IN_FLIGHT_MAX: '1300000' });
  const tenant = await pipeline.createTenant();
  const { hostname, port } = new URL(pipeline.url);
  for (let times = 0; times < 20; times++) {
    const socket = connect(Number(port), hostname);
    const head = `POST /v1/ingest-events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tenant.apiKey}\r\nContent-Length: 900000\r\n\r\n`;
    await new Promise((resolve) => socket.write(head + ' '.repeat(600_000), resolve));
    socket.destroy();
  }
  const large = toolEvent({ properties: { tool: { input: 'x'.repeat(900_000) } } });
  await until(async () => (await postEvents(pipeline, tenant, [large])).status === 202);
});

test('a queue that is full answers 503, and takes events again when the writer has made room', async () => {
  await using pipeline = await startPipeline({ QUEUE_BYTES_MAX: '300000' });
  const tenant = await pipeline.createTenant();
  pipeline.writer.child.kill('SIGSTOP');
  let accepted = 0;
  for (let status = 202; status === 202; ) {
    // Random, so that it does not compress away.
    const events = someEvents(20).map((event) => ({
      ...event,
      random: crypto.getRandomValues(Buffer.alloc(500)).toString('base64'),
    }));
    ({ status } = await postEvents(pipeline, tenant, events));
    if (status === 202) accepted += 20;
    else expect(status).toBe(503);
  }
  expect(accepted).toBeGreaterThan(0);
  pipeline.writer.child.kill('SIGCONT');
  await until(async () => (await postEvents(pipeline, tenant, [llmEvent()])).status === 202);
  await untilDrained(pipeline);
  expect(await countRows(pipeline, tenant.spaceId)).toBe(accepted + 1);
});

test('batches that take long to read are stored as any other, and more of them than are read are told to come back', async () => {
  await using pipeline = await startPipeline();
  const tenant = await pipeline.createTenant();
  const costly = () =>
    toolEvent({ properties: { tool: { input: Array.from({ length: 1_000_000 }, () => []) } } });
  const answers = await Promise.all(
    Array.from({ length: 2 * costlyBatchesMax }, () => postEvents(pipeline, tenant, [costly()])),
  );
  const accepted = answers.filter(({ status }) => status === 202).length;
  expect(accepted).toBeGreaterThanOrEqual(costlyBatchesMax);
  for (const { status, headers } of answers) {
    if (status !== 202) expect([status, headers.has('retry-after')]).toEqual([503, true]);
  }
  expect((await postEvents(pipeline, tenant, [costly()])).status).toBe(202);
  await untilDrained(pipeline);
  expect(await countRows(pipeline, tenant.spaceId)).toBe(accepted + 1);
});

test('with Postgres away known keys are accepted, and unknown ones are told to come back', async () => {
  await using pipeline = await startPipeline();
  const [known, unknown] = [await pipeline.createTenant(), await pipeline.createTenant()];
  expect((await postEvents(pipeline, known, [llmEvent()])).status).toBe(202);
  // The test's own connections to the database would be cut with the services'.
  const maintenance = new URL(pipeline.variables.DATABASE_URL ?? '');
  const name = maintenance.pathname.slice(1);
  maintenance.pathname = '/postgres';
  const options = { applicationName: 'test', connectionsMax: 1, statementTimeoutMs: 0 };
  await using admin = openPostgres(maintenance.href, options);
  const setAllowed = (allowed: boolean) =>
    admin.unsafe(`ALTER DATABASE "${name}" ALLOW_CONNECTIONS ${allowed}`);
  const cut = () => admin`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = ${name} AND application_name LIKE 'weir-%'`;
  // Connections are cut in every state of theirs, new ones too: several times, since it is a matter of chance.
  for (let times = 0; times < 20; times++) {
    await cut();
    await postEvents(pipeline, known, [llmEvent()]);
  }
  await setAllowed(false);
  await cut();
  expect((await postEvents(pipeline, known, someEvents(5))).status).toBe(202);
  const answer = await postEvents(pipeline, unknown, [llmEvent()]);
  expect([answer.status, answer.headers.has('retry-after')]).toEqual([503, true]);
  expect(pipeline.writer.child.exitCode).toBeNull();
  await setAllowed(true);
  await untilDrained(pipeline);
  expect(await countRows(pipeline, known.spaceId)).toBe(26);
  expect((await postEvents(pipeline, unknown, [llmEvent()])).status).toBe(202);
});
