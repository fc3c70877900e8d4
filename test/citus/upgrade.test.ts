import { env } from 'node:process';
import { count, eq, getTableName, sum } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { someEvents } from '../../harness/fixtures/events.ts';
import { citusUrl, createCitusDatabase, turnTimeoutMs } from '../../harness/system/citus-database.ts';
import { findReleaseFault, openCommandLine, openRelease } from '../../harness/system/release.ts';
import { urlOfRole } from '../../launcher/provision/postgres/roles.ts';
import { checkCluster } from '../../operations/doctor/cluster-checks.ts';
import { issueApiKey } from '../../store/accounts/api-keys.ts';
import { openPostgres, type Sql } from '../../store/db/connect.ts';
import { type Database, openDatabase } from '../../store/db/database.ts';
import { distributedTables } from '../../store/db/layout/distribution.ts';
import { auditLog, eventIds, events, usageMonths } from '../../store/db/schema.ts';
import { migrateDatabase } from '../../store/migrate/migrate.ts';
import { openDashboard } from '../support/dashboard.ts';
import { postEvents } from '../support/http.ts';
import { openTail } from '../support/live-tail.ts';
import { type Pipeline, pepper, type Tenant } from '../support/pipeline.ts';
import { startService } from '../support/service-process.ts';
import { startNats } from '../support/test-servers.ts';
import { until } from '../support/wait.ts';

/** Requests that must be accepted after each step, so that it is taken under load. */
const requestsPerStep = 5;
/** On distributed tables a migration and a rebalance take long. */
const timeoutMs = 500_000;

const releaseFault = citusUrl === undefined ? undefined : await findReleaseFault(env);

describe.skipIf(citusUrl === undefined || releaseFault !== undefined)(
  'a distributed database of the last release, on the Citus cluster of WEIR_TEST_CITUS_URL',
  () => {
    const resources = new AsyncDisposableStack();
    let variables: Record<string, string>;
    let sql: Sql;
    let database: Database;
    let spare: { host: string; port: number } | undefined;
    let root: string;
    let released: ReturnType<typeof openCommandLine>;
    beforeAll(async () => {
      const options = { empty: true, withRoles: true, hasSpare: true };
      const cluster = resources.use(await createCitusDatabase(citusUrl ?? '', options));
      spare = cluster.spare;
      const nats = resources.use(await startNats());
      variables = {
        DATABASE_URL: cluster.url,
        NATS_URL: nats.url,
        NATS_MONITOR_URL: nats.monitorUrl,
        API_KEY_PEPPER: pepper,
        INGEST_PORT: '0',
        QUEUE_BYTES_MAX: String(512 * 1024 ** 2),
      };
      sql = resources.use(
        openPostgres(cluster.url, { applicationName: 'test', connectionsMax: 2, statementTimeoutMs: 0 }),
      );
      database = openDatabase(sql);
      root = await openRelease(env);
      released = openCommandLine(root, {
        ...variables,
        PATH: env.PATH ?? '',
        DATABASE_URL: urlOfRole(cluster.url, 'owner'),
      });
      await released('migrate', '--citus', '--shards', '4');
    }, timeoutMs + turnTimeoutMs);
    afterAll(() => resources.disposeAsync());

    async function createTenants(): Promise<Tenant[]> {
      const tenants: Tenant[] = [];
      for (let i = 0; i < 4; i++) {
        const { spaceId = '' } = await released('space', 'create', '--name', `upgraded ${i}`);
        const { keyId = '', apiKey = '' } = await released('key', 'create', '--space', spaceId);
        tenants.push({ spaceId, keyId, apiKey });
      }
      return tenants;
    }

    const storedIds = async (spaceId: string) =>
      (await database.select({ id: events.id }).from(events).where(eq(events.spaceId, spaceId)))
        .map(({ id }) => id)
        .toSorted();

    /** Each accepted event has one row, and is in the ledger and the bill once. */
    async function expectStored(load: Load): Promise<void> {
      for (const [spaceId, sent] of load.sent) {
        await until(async () => (await storedIds(spaceId)).length >= sent.length, 120_000);
        expect(await storedIds(spaceId)).toEqual(sent.toSorted());
        const [ids] = await database
          .select({ rows: count() })
          .from(eventIds)
          .where(eq(eventIds.spaceId, spaceId));
        const [usage] = await database
          .select({ events: sum(usageMonths.events).mapWith(Number) })
          .from(usageMonths)
          .where(eq(usageMonths.spaceId, spaceId));
        expect([ids?.rows, usage?.events]).toEqual([sent.length, sent.length]);
      }
    }

    test(
      'is migrated and used by both versions at once: no table stays local, and each event is stored once',
      async () => {
        const tenants = await createTenants();
        const oldIngest = resources.use(await startService('ingest', variables, root));
        const oldWriter = resources.use(await startService('writer', variables, root));
        const old = startLoad(oldIngest.ready.url, tenants);
        await old.untilAccepted();
        expect(await examineTables(database)).toMatchObject({ tables: 'failed', identity: 'warning' });
        await migrateDatabase(urlOfRole(variables.DATABASE_URL ?? '', 'owner'));
        await old.untilAccepted();
        resources.use(await startService('writer', variables));
        await old.untilAccepted();
        const ingest = resources.use(await startService('ingest', variables));
        const load = startLoad(ingest.ready.url, tenants, old.sent);
        await Promise.all([old.untilAccepted(), load.untilAccepted()]);
        await old.end();
        expect(await oldIngest.stop('SIGTERM')).toBe(0);
        expect(await oldWriter.stop('SIGTERM')).toBe(0);
        await load.untilAccepted();
        expect(await listDistributed(sql)).toEqual(
          expect.arrayContaining(distributedTables.map((table) => getTableName(table))),
        );
        expect(await listDistributed(sql)).not.toContain(getTableName(auditLog));
        expect(await examineTables(database)).toEqual({
          tables: 'ok',
          identity: 'ok',
          nodes: 'ok',
          transactions: 'ok',
        });
        await load.end();
        await expectStored(load);
      },
      timeoutMs,
    );

    test(
      'a worker is added and shards move to it under load: each event is stored once, and a live tail has each',
      async (context) => {
        if (spare === undefined) return context.skip('the cluster has no second worker');
        const dashboard = resources.use(
          await openDashboard({ databaseUrl: variables.DATABASE_URL ?? '', variables }),
        );
        const spaces = await Promise.all([1, 2, 3, 4].map(() => dashboard.addSpace()));
        const tenants = await issueKeys(spaces.map(({ spaceId }) => spaceId));
        const tails = spaces.map(({ client, spaceId }) =>
          openTail(dashboard.url, client.cookie, { spaceId }),
        );
        await Promise.all(tails.map((tail) => tail.ready()));
        const ingest = resources.use(await startService('ingest', variables));
        const load = startLoad(ingest.ready.url, tenants);
        await load.untilAccepted();
        await sql`SELECT citus_add_node(${spare.host}, ${spare.port})`;
        await sql`SELECT citus_rebalance_start()`;
        await sql`SELECT citus_rebalance_wait()`;
        await load.untilAccepted();
        await load.end();
        const [moved] = await sql<{ shards: number }[]>`
        SELECT count(*)::integer AS shards FROM citus_shards
        WHERE table_name = ${getTableName(events)}::regclass AND (nodename, nodeport) = (${spare.host}, ${spare.port})`;
        expect(moved?.shards).toBe(2);
        await expectStored(load);
        for (const [i, tail] of tails.entries()) {
          const sent = load.sent.get(spaces[i]?.spaceId ?? '') ?? [];
          await until(() => tail.eventIds().length >= sent.length, 60_000);
          expect(tail.eventIds().toSorted()).toEqual(sent.toSorted());
          tail[Symbol.dispose]();
        }
      },
      timeoutMs,
    );

    const issueKeys = (spaceIds: readonly string[]): Promise<Tenant[]> =>
      Promise.all(
        spaceIds.map(async (spaceId) => ({
          spaceId,
          ...(await issueApiKey(database, spaceId, { name: 'load', pepper })),
        })),
      );
  },
);

type Load = ReturnType<typeof startLoad>;

/** Sends events of all tenants, request by request, until `end`. */
function startLoad(
  url: string | undefined,
  tenants: readonly Tenant[],
  sent = new Map<string, string[]>(tenants.map(({ spaceId }) => [spaceId, []])),
) {
  const pipeline: Pick<Pipeline, 'url'> = { url: url ?? '' };
  let isOver = false;
  let accepted = 0;
  const send = async (tenant: Tenant) => {
    while (!isOver) {
      const list = someEvents(3);
      expect((await postEvents(pipeline, tenant, list)).status).toBe(202);
      sent.get(tenant.spaceId)?.push(...list.map(({ id }) => String(id)));
      accepted += 1;
    }
  };
  const sending = Promise.all(tenants.map(send));
  sending.catch(() => {});
  return {
    sent,
    /** Waits until some more requests were accepted. */
    async untilAccepted(): Promise<void> {
      const target = accepted + requestsPerStep;
      await Promise.race([until(() => accepted >= target, 120_000), sending]);
    },
    async end(): Promise<void> {
      isOver = true;
      await sending;
    },
  };
}

async function listDistributed(sql: Sql): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    SELECT logicalrelid::text AS name FROM pg_dist_partition WHERE partmethod = 'h'`;
  return rows.map(({ name }) => name);
}

/** What `weir doctor` finds that does not depend on the settings of the given cluster. */
async function examineTables(database: Database): Promise<Record<string, string>> {
  const findings = await checkCluster(database);
  return Object.fromEntries(
    findings
      .map(({ check, status }) => [check.replace('cluster.', ''), status] as const)
      .filter(([check]) => ['tables', 'identity', 'nodes', 'transactions'].includes(check)),
  );
}
