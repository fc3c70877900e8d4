import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { llmEvent, someEvents } from '../../harness/fixtures/events.ts';
import { createApiKey, hashApiKey } from '../../store/accounts/api-key.ts';
import { revokeApiKey } from '../../store/accounts/api-keys.ts';
import { changeSpace } from '../../store/accounts/spaces.ts';
import { postEvents } from '../support/http.ts';
import { pepper, type Tenant } from '../support/pipeline.ts';
import { type ServiceProcess, startService } from '../support/service-process.ts';
import { useProcessPipeline } from '../support/use-pipeline.ts';
import { countRows, countUsage, until, untilApplied, untilDrained } from '../support/wait.ts';

const { pipeline } = useProcessPipeline();
let secondIngest: ServiceProcess;
let secondWriter: ServiceProcess;
let ingests: { url: string }[];
beforeAll(async () => {
  [secondIngest, secondWriter] = await Promise.all([
    startService('ingest', pipeline.variables),
    startService('writer', pipeline.variables),
  ]);
  ingests = [pipeline, { url: secondIngest.ready.url ?? '' }];
});
beforeEach(async () => {
  if (secondWriter.isRunning()) return;
  secondWriter = await startService('writer', pipeline.variables);
});
afterAll(async () => {
  await Promise.all([secondIngest?.stop('SIGKILL'), secondWriter?.stop('SIGKILL')]);
});

/** Posts to the ingest processes in turn. */
const postTo = (turn: number, tenant: Tenant, events: unknown = [llmEvent()]) =>
  postEvents(ingests[turn % ingests.length] ?? pipeline, tenant, events);
const statusesOf = async (tenant: Tenant) =>
  (await Promise.all(ingests.map((_, turn) => postTo(turn, tenant)))).map(({ status }) => status);
const untilAllAnswer = (tenant: Tenant, status: number) =>
  untilApplied(async () => (await statusesOf(tenant)).every((one) => one === status));

test('a revoked key is rejected by every process within a second', async () => {
  const tenant = await pipeline.createTenant();
  expect(await statusesOf(tenant)).toEqual([202, 202]);
  await revokeApiKey(pipeline.database, tenant.keyId);
  await untilAllAnswer(tenant, 401);
});

test('a key that was tried before it existed is accepted by every process within a second of its creation', async () => {
  const { spaceId } = await pipeline.createTenant();
  const apiKey = createApiKey();
  const tenant = { spaceId, keyId: '', apiKey };
  expect(await statusesOf(tenant)).toEqual([401, 401]);
  await pipeline.sql`
    INSERT INTO api_keys (space_id, name, hash, last_four) VALUES (${spaceId}, 'early', ${hashApiKey(apiKey, pepper)}, '')`;
  await untilAllAnswer(tenant, 202);
});

test('changes of billing and limits are applied by every process within a second, in both directions', async () => {
  const tenant = await pipeline.createTenant();
  expect(await statusesOf(tenant)).toEqual([202, 202]);
  for (const change of [{ billingState: 'inactive' }, { monthlyEventLimit: 1 }] as const) {
    await changeSpace(pipeline.database, tenant.spaceId, { ...change });
    await untilAllAnswer(tenant, 402);
    await changeSpace(pipeline.database, tenant.spaceId, { billingState: 'active', monthlyEventLimit: null });
    await untilAllAnswer(tenant, 202);
  }
});

test('the batch that crosses the limit is accepted completely, and the next one is rejected by the other process', async () => {
  // Repeated, because it depends on the timing between the processes.
  for (let times = 0; times < 10; times++) {
    const tenant = await pipeline.createTenant({ monthlyEventLimit: 10 });
    const answers = [];
    for (let turn = 0; turn < 4; turn++) answers.push(await postTo(times + turn, tenant, someEvents(7)));
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 402, 402]);
    await untilDrained(pipeline);
    expect(await countRows(pipeline, tenant.spaceId)).toBe(14);
  }
});

test('concurrent clients of two processes overshoot a limit by no more than what was in flight', async () => {
  const tenant = await pipeline.createTenant({ monthlyEventLimit: 200 });
  const [clients, batchEvents] = [16, 10];
  let accepted = 0;
  const send = async (turn: number) => {
    for (;;) {
      const { status } = await postTo(turn, tenant, someEvents(batchEvents));
      if (status !== 202) return status;
      accepted += batchEvents;
    }
  };
  const ends = await Promise.all(Array.from({ length: clients }, (_, turn) => send(turn)));
  expect(new Set(ends)).toEqual(new Set([402]));
  expect(accepted).toBeGreaterThanOrEqual(200);
  // Each client has one batch in flight.
  expect(accepted).toBeLessThanOrEqual(200 + clients * batchEvents);
  await untilDrained(pipeline);
  expect(await countUsage(pipeline, tenant.spaceId)).toBe(accepted);
});

test('while no writer runs, a limit is overshot by no more than what was in flight, and further batches get 503', async () => {
  const [limit, clients, batchEvents] = [100, 4, 10];
  const tenant = await pipeline.createTenant({ monthlyEventLimit: limit });
  await Promise.all([pipeline.writer.stop('SIGTERM'), secondWriter.stop('SIGTERM')]);
  let accepted = 0;
  // Without the bound, every batch would be accepted, since each client sends its whole share.
  const send = async (turn: number) => {
    for (let sent = 0; sent < 3 * limit; sent += batchEvents) {
      const { status } = await postTo(turn, tenant, someEvents(batchEvents));
      if (status !== 202) return status;
      accepted += batchEvents;
    }
    return 202;
  };
  const ends = await Promise.all(Array.from({ length: clients }, (_, turn) => send(turn)));
  // Not 402: queued events may be duplicates of stored ones.
  expect(new Set(ends)).toEqual(new Set([503]));
  expect(accepted).toBeGreaterThanOrEqual(limit);
  expect(accepted).toBeLessThanOrEqual(limit + clients * batchEvents);
  pipeline.writer = await pipeline.start('writer');
  await untilDrained(pipeline);
  expect(await countUsage(pipeline, tenant.spaceId)).toBe(accepted);
  expect(await statusesOf(tenant)).toEqual([402, 402]);
});

test('the same batches through every process and two writers are stored and billed once', async () => {
  const tenant = await pipeline.createTenant();
  const events = someEvents(400);
  const batches = Array.from({ length: 40 }, (_, i) => events.slice(i * 9, i * 9 + 30));
  const answers = await Promise.all(
    [...batches, ...batches].map((batch, turn) => postTo(turn, tenant, batch)),
  );
  expect(answers.every(({ status }) => status === 202)).toBe(true);
  await untilDrained(pipeline);
  const sent = new Set(batches.flat().map(({ id }) => id)).size;
  expect(await countRows(pipeline, tenant.spaceId)).toBe(sent);
  expect(await countUsage(pipeline, tenant.spaceId)).toBe(sent);
});

test('the messages of a killed writer are redelivered to another one and stored once', async () => {
  const tenant = await pipeline.createTenant();
  const holdsMessages = async () => {
    const report = await fetch(new URL('/jsz?consumers=1', pipeline.nats.monitorUrl));
    return /"num_ack_pending": [1-9]/.test(await report.text());
  };
  // Only the second writer runs, so it receives all messages; the locked table keeps it from storing them.
  expect(await pipeline.writer.stop('SIGTERM')).toBe(0);
  const [lock, isLocked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const locked = pipeline.sql.begin(async (sql) => {
    // A busy machine needs more than the 15 s for which sessions of Weir may be idle in a transaction.
    await sql`SET LOCAL idle_in_transaction_session_timeout = 0`;
    await sql`LOCK TABLE events IN EXCLUSIVE MODE`;
    isLocked.resolve();
    await lock.promise;
  });
  await isLocked.promise;
  const posts = Array.from({ length: 12 }, (_, turn) => postTo(turn, tenant, someEvents(50)));
  expect((await Promise.all(posts)).every(({ status }) => status === 202)).toBe(true);
  await until(holdsMessages);
  await secondWriter.stop('SIGKILL');
  // A statement whose client disconnected still waits for the lock, and would store its events once it gets
  // it.
  const sessions = pipeline.sql`SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND application_name LIKE 'weir-writer%'`;
  await pipeline.sql`SELECT pg_terminate_backend(pid) FROM (${sessions}) AS session`;
  await until(async () => (await pipeline.sql`${sessions}`).length === 0);
  lock.resolve();
  await locked;
  expect(await countRows(pipeline, tenant.spaceId)).toBe(0);
  pipeline.writer = await pipeline.start('writer');
  await until(async () => (await countRows(pipeline, tenant.spaceId)) === 600, 30_000);
  await untilDrained(pipeline);
  expect(await countUsage(pipeline, tenant.spaceId)).toBe(600);
});
