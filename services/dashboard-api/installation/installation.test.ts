import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { someEvents } from '../../../harness/fixtures/events.ts';
import { insertParts } from '../../../harness/fixtures/insert-parts.ts';
import { partOf } from '../../../harness/fixtures/part.ts';
import { examine } from '../../../operations/doctor/doctor.ts';
import { parseConfig } from '../../../platform/config.ts';
import { connectQueue } from '../../../platform/queue/connect.ts';
import { ensureStreams } from '../../../platform/queue/stream.ts';
import { hourMs } from '../../../platform/time.ts';
import { issueApiKey } from '../../../store/accounts/api-keys.ts';
import { changeSpace } from '../../../store/accounts/spaces.ts';
import { setOperator } from '../../../store/accounts/users.ts';
import { auditLog } from '../../../store/db/schema.ts';
import { foldDelays } from '../../../store/store-delays/fold-delays.ts';
import { quarantineEvent } from '../../../store/write/quarantine.ts';
import {
  dashboardPepper,
  openClient,
  openDashboard,
  type TestDashboard,
  type TestSpace,
} from '../../../test/support/dashboard.ts';
import { openPostgresProxy, type PostgresProxy } from '../../../test/support/postgres-proxy.ts';
import { callProcedure, procedures } from '../../../test/support/protocols/procedures.ts';
import { startNats } from '../../../test/support/test-servers.ts';

const resources = new AsyncDisposableStack();
let nats: Awaited<ReturnType<typeof startNats>>;
let postgres: PostgresProxy;
let dashboard: TestDashboard;
let owner: TestSpace;
let operator: TestSpace;
let operatorId: string;
beforeAll(async () => {
  nats = resources.use(await startNats());
  postgres = resources.use(await openPostgresProxy());
  const variables = { NATS_URL: nats.url, NATS_MONITOR_URL: nats.monitorUrl, QUEUE_BYTES_MAX: '1000000' };
  await using connection = await connectQueue(nats.url, 'test');
  await ensureStreams(connection, parseConfig(variables));
  dashboard = resources.use(await openDashboard({ through: postgres.through, variables }));
  owner = await dashboard.addSpace();
  operator = await dashboard.addSpace();
  operatorId = (await operator.client.trpc.me.query()).user.id;
});
afterAll(() => resources.disposeAsync());

const signIn = async ({ email, password }: TestSpace) => {
  const client = openClient(dashboard.url);
  await client.trpc.auth.signIn.mutate({ email, password });
  return client;
};
const ofOperators = procedures.filter(({ access }) => access === 'operator');
const input = { from: Date.now() - hourMs, to: Date.now() + hourMs };
/** Figures are reused for some seconds. */
const eventually = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 30_000, interval: 300 });
const statuses = (headers: Record<string, string>) =>
  Promise.all(
    ofOperators.map(async (one) => (await callProcedure(dashboard.url, one, input, headers)).status),
  );
const all = (status: number) => ofOperators.map(() => status);

test('the state of the installation is for its operators: not for owners of spaces, their read keys, or without a session', async () => {
  expect(ofOperators.length).toBeGreaterThan(5);
  const { apiKey } = await issueApiKey(dashboard.database, owner.spaceId, {
    name: 'k',
    pepper: dashboardPepper,
    scope: 'administration',
  });
  expect(await statuses({})).toEqual(all(401));
  expect(await statuses({ cookie: owner.client.cookie ?? '' })).toEqual(all(403));
  expect(await statuses({ authorization: `Bearer ${apiKey}` })).toEqual(all(403));
  expect((await owner.client.trpc.me.query()).user.isOperator).toBe(false);

  await setOperator(dashboard.database, operatorId, true);
  // The old session has ended.
  expect(await statuses({ cookie: operator.client.cookie ?? '' })).toEqual(all(401));
  const client = await signIn(operator);
  expect((await client.trpc.me.query()).user.isOperator).toBe(true);
  expect(await statuses({ cookie: client.cookie ?? '' })).toEqual(all(200));

  await setOperator(dashboard.database, operatorId, false);
  expect(await statuses({ cookie: (await signIn(operator)).cookie ?? '' })).toEqual(all(403));
  const actions = await dashboard.database.select({ action: auditLog.action }).from(auditLog);
  expect(actions.map(({ action }) => action)).toEqual(
    expect.arrayContaining(['user.grant_operator', 'user.revoke_operator']),
  );
});

test('it has the queue, delays, storage, retention, quarantine by reason, and what the doctor finds', async () => {
  await setOperator(dashboard.database, operatorId, true);
  const asked = (await signIn(operator)).trpc.operator;
  const state = await asked.queue.query();
  expect(state.streams).toMatchObject([
    { stream: expect.stringMatching(/^WEIR_/), messages: 0, bytesMax: 1_000_000 },
  ]);
  expect(state.services).toMatchObject([{ service: 'dashboard-api' }]);

  const { database } = dashboard;
  const part = partOf(owner.spaceId, someEvents(7));
  await insertParts(database, [part, partOf(operator.spaceId, someEvents(3))]);
  await foldDelays(database);
  const { total, points } = await asked.delays.query({ from: Date.now() - hourMs, to: Date.now() });
  expect([total.events, points.length]).toEqual([10, 1]);

  await changeSpace(database, owner.spaceId, { retentionDays: 3 });
  for (const sqlstate of ['22P05', '22P05', '54000'])
    await quarantineEvent(database, partOf(owner.spaceId, someEvents(1)), { sqlstate, message: 'secret' });

  const storage = await asked.storage.query();
  const eventIds = storage.tables.find(({ name }) => name === 'event_ids');
  expect(storage.weeks.some(({ segmentBytes }) => segmentBytes > 0)).toBe(true);
  expect(storage.totalBytes).toBeGreaterThan(eventIds?.bytes ?? Infinity);

  await eventually(async () => {
    const { policies, lastPassAt } = await asked.retention.query();
    expect(lastPassAt).toBe(null);
    expect(policies.find(({ days }) => days === 3)).toMatchObject({ spaces: 1, expiringEvents: 7 });
    expect(policies.find(({ days }) => days === null)).toMatchObject({ cutoff: null, expiringEvents: null });
  });
  await eventually(async () =>
    expect(await asked.quarantine.query()).toMatchObject([
      { sqlstate: '22P05', entries: 2, spaces: 1 },
      { sqlstate: '54000', entries: 1, spaces: 1 },
    ]),
  );

  const variables = {
    DATABASE_URL: dashboard.databaseUrl,
    NATS_URL: nats.url,
    NATS_MONITOR_URL: nats.monitorUrl,
  };
  const checks = (found: { check: string }[]) => found.map(({ check }) => check).toSorted();
  const found = await asked.doctor.query();
  expect(checks(found)).toEqual(
    checks(await examine(parseConfig({ ...variables, API_KEY_PEPPER: dashboardPepper }))),
  );
  // The role of the dashboard has the rights that the checks need; that of transactions says that it has not.
  // The Postgres of the tests does not sync, and no writer has made the control stream.
  const failed = found.filter(({ status, check }) => status === 'failed' && check !== 'postgres.durability');
  expect(failed.map(({ check }) => check)).toEqual(['control', 'services']);
  expect(found).toContainEqual(
    expect.objectContaining({ check: 'postgres.transactions', status: 'skipped' }),
  );
});

test('while Postgres is away, a known operator still sees the queue and what the doctor finds; nobody else sees anything', async () => {
  const client = await signIn(operator);
  const { trpc } = client;
  await trpc.operator.queue.query();
  await postgres.proxy.cut();
  expect((await trpc.operator.queue.query()).streams).toHaveLength(1);
  await eventually(async () =>
    expect(await trpc.operator.doctor.query()).toContainEqual(
      expect.objectContaining({ check: 'postgres.reachable', status: 'failed' }),
    ),
  );
  const away = { data: { code: 'SERVICE_UNAVAILABLE' }, message: expect.stringContaining('database') };
  await eventually(() => expect(trpc.operator.quarantine.query()).rejects.toMatchObject(away));
  const before = await statuses({ cookie: owner.client.cookie ?? '' });
  expect(before.filter((status) => status < 400)).toEqual([]);
  await postgres.proxy.heal();
  await eventually(async () => expect(await trpc.operator.quarantine.query()).toHaveLength(2));
});

test('while nats-server is away, the queue says so, and everything else is shown', async () => {
  const { trpc } = await signIn(operator);
  await nats.stop();
  await eventually(() =>
    expect(trpc.operator.queue.query()).rejects.toMatchObject({
      data: { code: 'SERVICE_UNAVAILABLE' },
      message: expect.stringContaining('nats-server does not answer'),
    }),
  );
  expect(await trpc.operator.quarantine.query()).toHaveLength(2);
  await eventually(async () =>
    expect(await trpc.operator.doctor.query()).toContainEqual(
      expect.objectContaining({ check: 'nats.reachable', status: 'failed' }),
    ),
  );
});
