import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agedPart } from '../../harness/fixtures/aged-part.ts';
import { llmEvent } from '../../harness/fixtures/events.ts';
import { insertParts } from '../../harness/fixtures/insert-parts.ts';
import { type DatabaseUser, ensureRoles, urlOfRole } from '../../launcher/provision/postgres/roles.ts';
import { revokeApiKey } from '../../store/accounts/api-keys.ts';
import { setRole } from '../../store/accounts/memberships.ts';
import { changeSpace } from '../../store/accounts/spaces.ts';
import { openPostgres } from '../../store/db/connect.ts';
import { ensurePartitions } from '../../store/db/partitions.ts';
import { migrateDatabase } from '../../store/migrate/migrate.ts';
import { openDashboard, type TestDashboard } from '../support/dashboard.ts';
import { postEvents } from '../support/http.ts';
import { usePipeline } from '../support/use-pipeline.ts';
import { countRows, until, untilDrained } from '../support/wait.ts';

/** Each service connects to Postgres with a role of its own, does its work with it, and can do no more. */

const { pipeline } = usePipeline();
let dashboard: TestDashboard;
let url: string;
beforeAll(async () => {
  url = pipeline.variables.DATABASE_URL ?? '';
  dashboard = await openDashboard({ databaseUrl: url });
});
afterAll(() => dashboard[Symbol.asyncDispose]());

const partitions = () => pipeline.sql<{ name: string; owner: string }[]>`
  SELECT relname AS name, relowner::regrole::text AS owner FROM pg_inherits JOIN pg_class ON oid = inhrelid
  WHERE inhparent = 'events'::regclass ORDER BY name`;

test('the services ingest, store, show and expire events, and make partitions, without a superuser', async () => {
  const { database, sql } = pipeline;
  const tenant = await pipeline.createTenant();
  const viewer = await dashboard.addSpace();
  const { user } = await viewer.client.trpc.me.query();
  await setRole(database, tenant.spaceId, { userId: user.id, role: 'viewer' });
  const { spaceId } = tenant;
  const id = randomUUID();
  expect((await postEvents(pipeline, tenant, [llmEvent({ id })])).status).toBe(202);
  await untilDrained(pipeline);
  const { trpc } = viewer.client;
  expect((await trpc.events.list.query({ spaceId })).events).toMatchObject([{ id }]);
  expect(await trpc.events.get.query({ spaceId, id })).toMatchObject({ id });

  await insertParts(database, [agedPart(spaceId, [llmEvent()], 30)]);
  await ensurePartitions(database, Date.now());
  await changeSpace(database, spaceId, { retentionDays: 7 });
  const before = await partitions();
  const ahead = before.filter(({ name }) => name !== 'events_default').at(-1)?.name ?? '';
  await sql`DROP TABLE ${sql(ahead)}`;
  await pipeline.writer.stop('SIGTERM');
  pipeline.writer = await pipeline.start('writer');
  await until(async () => (await countRows(pipeline, spaceId)) === 1);
  await until(async () => (await partitions()).some(({ name }) => name === ahead));
  expect(new Set((await partitions()).map(({ owner }) => owner))).toEqual(new Set(['weir_owner']));
  expect(pipeline.writer.log()).not.toMatch(/"level":[456]0/);

  await revokeApiKey(database, tenant.keyId);
  await until(async () => (await postEvents(pipeline, tenant, [])).status === 401);
  // It writes the last uses when it stops.
  await pipeline.ingest.stop('SIGTERM');
  expect(pipeline.ingest.log()).not.toContain('permission denied');
  const [key] = await sql`SELECT last_used_at FROM api_keys WHERE id = ${tenant.keyId}`;
  expect(key?.last_used_at).not.toBeNull();
  pipeline.ingest = await pipeline.start('ingest');
});

test('no connection of a service is one of a superuser', async () => {
  const sessions = await pipeline.sql<{ service: string; role: string; isSuperuser: boolean }[]>`
    SELECT DISTINCT substring(application_name FROM '^weir-(?:ingest|writer|dashboard)') AS service,
      rolname AS role, rolsuper AS "isSuperuser"
    FROM pg_stat_activity JOIN pg_roles ON pg_roles.oid = usesysid
    WHERE datname = current_database() AND application_name <> 'test' ORDER BY role`;
  expect(sessions).toEqual([
    { service: 'weir-dashboard', role: 'weir_dashboard', isSuperuser: false },
    { service: 'weir-ingest', role: 'weir_ingest', isSuperuser: false },
    { service: 'weir-writer', role: 'weir_writer', isSuperuser: false },
  ]);
  const [{ count } = {}] = await pipeline.sql`
    SELECT count(*)::int FROM pg_roles WHERE rolname LIKE 'weir\\_%'
      AND (rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls)`;
  expect(count).toBe(0);
});

const forbidden: [DatabaseUser, string][] = [
  ['ingest', 'SELECT FROM events'],
  ['ingest', 'SELECT FROM segments'],
  ['ingest', 'SELECT FROM sessions'],
  ['ingest', 'UPDATE api_keys SET revoked_at = NULL'],
  ['ingest', 'UPDATE usage_months SET events = 0'],
  ['dashboard-api', 'DELETE FROM events'],
  ['dashboard-api', 'UPDATE segments SET body = body'],
  ['dashboard-api', 'UPDATE audit_log SET actor = actor'],
  ['dashboard-api', 'DELETE FROM audit_log'],
  ['dashboard-api', 'DROP TABLE events'],
  ['dashboard-api', 'CREATE TABLE mine (id int)'],
  ['dashboard-api', 'SET ROLE weir_owner'],
  ['writer', "COPY segments (body) TO PROGRAM 'cat'"],
  ['writer', 'CREATE ROLE another'],
  ['owner', "COPY segments (body) TO PROGRAM 'cat'"],
];

test.each(forbidden)('%s may not: %s', async (user, statement) => {
  await using sql = openAs(user);
  await expect(sql.unsafe(statement)).rejects.toMatchObject({ code: '42501' });
});

test('a service ends its own read-only session', async () => {
  for (const user of ['ingest', 'writer', 'dashboard-api'] as const) {
    await using sql = openAs(user);
    await expect(sql`SELECT pg_terminate_backend(pg_backend_pid())`).rejects.toMatchObject({
      code: 'CONNECTION_CLOSED',
    });
  }
});

test('making roles and granting rights again keeps the rights, and takes away others', async () => {
  await pipeline.sql`GRANT DELETE ON events, erasures TO weir_dashboard`;
  await ensureRoles(url);
  await migrateDatabase(urlOfRole(url, 'owner'));
  await using sql = openAs('dashboard-api');
  expect(await sql`SELECT count(*) FROM events`).toHaveLength(1);
  await expect(sql`DELETE FROM events`).rejects.toBeInstanceOf(postgres.PostgresError);
  await expect(sql`DELETE FROM erasures`).rejects.toBeInstanceOf(postgres.PostgresError);
});

function openAs(user: DatabaseUser) {
  const options = { applicationName: 'test', connectionsMax: 1, statementTimeoutMs: 10_000 };
  return openPostgres(urlOfRole(url, user), options);
}
