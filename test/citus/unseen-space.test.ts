import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { llmEvent } from '../../harness/fixtures/events.ts';
import { insertParts } from '../../harness/fixtures/insert-parts.ts';
import { partOf } from '../../harness/fixtures/part.ts';
import { citusUrl, createCitusDatabase, turnTimeoutMs } from '../../harness/system/citus-database.ts';
import { openPostgres } from '../../store/db/connect.ts';
import { type Database, openDatabase } from '../../store/db/database.ts';
import { events, segments } from '../../store/db/schema.ts';
import { openClient, openDashboard, type TestDashboard, type TestSpace } from '../support/dashboard.ts';
import { openTail } from '../support/live-tail.ts';
import { createDatabase } from '../support/test-servers.ts';
import { until } from '../support/wait.ts';

/**
 * So many times the pages that one Postgres reads: each node has its own catalogs. Without statistics on the
 * shards they are 160 times as many.
 */
const ratioMax = 3;

const someOf = (count: number) =>
  Array.from({ length: count }, (_, at) =>
    llmEvent({
      startTimeMs: Date.now() - at,
      context: { userId: `u${at % 101}`, threadId: `t${at % 211}` },
      ...(at % 97 === 0 && { status: { state: 'error', error: { code: 'quota', message: 'refused' } } }),
    }),
  );

/** The pages that all servers have read in the database. Sessions report theirs when they end. */
async function readPages(database: Database, isCluster: boolean): Promise<number> {
  const query = 'SELECT blks_hit + blks_read FROM pg_stat_database WHERE datname = current_database()';
  await until(async () => {
    const [row] = await database.execute<{ others: number }>(sql`
      SELECT count(*)::integer AS others FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'weir%'`);
    return row?.others === 0;
  }, 60_000);
  const [row] = await database.execute<{ pages: number }>(
    isCluster
      ? sql`SELECT sum(result::bigint)::float8 AS pages FROM run_command_on_all_nodes(${query})`
      : sql`SELECT (${sql.raw(query)})::float8 AS pages`,
  );
  return row?.pages ?? 0;
}

/**
 * Stores a space, analyzes, and stores another one on the same shard, which a live tail follows.
 *
 * @returns the pages that queries of the dashboard in the second space then read.
 */
async function readUnseen(databaseUrl: string, isCluster: boolean): Promise<number> {
  const pool = { applicationName: 'test', connectionsMax: 2, statementTimeoutMs: 60_000 };
  await using client = openPostgres(databaseUrl, pool);
  const database = openDatabase(client);
  const read = async (use: (dashboard: TestDashboard) => Promise<void>) => {
    await using dashboard = await openDashboard({ databaseUrl });
    await use(dashboard);
  };
  const shardOf = async (spaceId: string) => {
    if (!isCluster) return '';
    const [row] = await database.execute<{ shard: string }>(
      sql`SELECT get_shard_id_for_distribution_column('events', ${spaceId}::uuid)::text AS shard`,
    );
    return row?.shard;
  };
  let space: TestSpace | undefined;
  let start = '';
  await read(async (dashboard) => {
    const seen = await dashboard.addSpace();
    for (let i = 0; i < 20; i++) await insertParts(database, [partOf(seen.spaceId, someOf(500))]);
    await database.execute(sql`ANALYZE ${events}`);
    await database.execute(sql`ANALYZE ${segments}`);
    let unseen = await dashboard.addSpace();
    while ((await shardOf(unseen.spaceId)) !== (await shardOf(seen.spaceId)))
      unseen = await dashboard.addSpace();
    const { spaceId } = unseen;
    using tail = openTail(dashboard.url, unseen.client.cookie, { spaceId });
    await tail.ready();
    start = tail.messages.at(-1)?.id ?? '';
    for (let i = 0; i < 20; i++) {
      await insertParts(database, [partOf(spaceId, someOf(500))]);
      await insertParts(
        database,
        Array.from({ length: 50 }, () => partOf(spaceId, someOf(1))),
      );
    }
    await until(() => tail.eventIds().length === 20 * 550, 60_000);
    space = unseen;
  });
  const before = await readPages(database, isCluster);
  await read(async (dashboard) => {
    const { trpc } = openClient(dashboard.url);
    await trpc.auth.signIn.mutate({ email: space?.email ?? '', password: space?.password ?? '' });
    const of = { spaceId: space?.spaceId ?? '', limit: 50 };
    expect((await trpc.threads.list.query(of)).items).toHaveLength(50);
    expect((await trpc.users.list.query(of)).items).toHaveLength(50);
    expect((await trpc.events.list.query({ ...of, userId: 'u7' })).events).toHaveLength(50);
    expect((await trpc.live.since.query({ ...of, after: start })).events).toHaveLength(50);
    const range = { from: Date.now() - 3_600_000, to: Date.now() + 60_000 };
    expect((await trpc.events.errors.query({ spaceId: of.spaceId, ...range })).groups).toHaveLength(1);
  });
  return (await readPages(database, isCluster)) - before;
}

test.skipIf(citusUrl === undefined)(
  'a space that no ANALYZE has seen is followed and read on the Citus cluster of WEIR_TEST_CITUS_URL as on one Postgres',
  async () => {
    await using plain = await createDatabase();
    await using cluster = await createCitusDatabase(citusUrl ?? '', { withRoles: true });
    const expected = await readUnseen(plain.url, false);
    const pages = await readUnseen(cluster.url, true);
    expect(pages / expected).toBeLessThan(ratioMax);
  },
  turnTimeoutMs,
);
