import { randomUUIDv7 } from 'node:crypto';
import { count, eq, getTableName } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agedPart } from '../../harness/fixtures/aged-part.ts';
import { llmEvent, someEvents } from '../../harness/fixtures/events.ts';
import { insertParts } from '../../harness/fixtures/insert-parts.ts';
import { partOf } from '../../harness/fixtures/part.ts';
import { citusUrl, createCitusDatabase, turnTimeoutMs } from '../../harness/system/citus-database.ts';
import { reportStorage } from '../../operations/storage/storage-report.ts';
import type { Part } from '../../platform/queue/group.ts';
import { createSpace } from '../../store/accounts/spaces.ts';
import { readUsage } from '../../store/accounts/usage.ts';
import { openPostgres, type Sql } from '../../store/db/connect.ts';
import { type Database, openDatabase } from '../../store/db/database.ts';
import { distributedTables } from '../../store/db/layout/distribution.ts';
import { noSpace } from '../../store/db/limits.ts';
import { ensurePartitions, findPartitionFaults } from '../../store/db/partitions.ts';
import {
  agentStats,
  eventIds,
  eventStats,
  events,
  quarantine,
  segments,
  usageMonths,
} from '../../store/db/schema.ts';
import { migrateDatabase } from '../../store/migrate/migrate.ts';
import { readEventPage } from '../../store/read/event-page.ts';
import { type ExpireResult, expireData } from '../../store/retention/expire.ts';
import { RetentionClock } from '../../store/retention/retention-clock.ts';
import { readEventTexts } from '../../store/segments/read.ts';
import { deleteOldDelays, foldDelays } from '../../store/store-delays/fold-delays.ts';
import { readDelays } from '../../store/store-delays/read-delays.ts';
import { firstPosition } from '../../store/tail/position.ts';
import { deleteOldCommits } from '../../store/tail/space-commits.ts';
import { readStoredPage } from '../../store/tail/stored-events.ts';
import { replayQuarantined } from '../../store/write/replay.ts';
import { foldStatistics } from '../../store/write/statistics/fold.ts';
import { storeParts } from '../../store/write/store.ts';
import { runWeir } from '../support/cli/command-line.ts';

/** Number of connections that store concurrently. */
const concurrency = 4;

describe.skipIf(citusUrl === undefined)(
  'on the Citus cluster of WEIR_TEST_CITUS_URL',
  { timeout: 300_000 },
  () => {
    const resources = new AsyncDisposableStack();
    let url: string;
    let sql: Sql;
    let database: Database;
    beforeAll(async () => {
      url = resources.use(await createCitusDatabase(citusUrl ?? '')).url;
      const pool = { applicationName: 'test', connectionsMax: concurrency, statementTimeoutMs: 60_000 };
      sql = resources.use(openPostgres(url, pool));
      database = openDatabase(resources.use(openPostgres(url, pool)));
    }, turnTimeoutMs);
    afterAll(() => resources.disposeAsync());

    const counted = [events, segments, eventIds, eventStats, agentStats, usageMonths, quarantine] as const;
    const countIn = async (table: (typeof counted)[number], spaceId: string) =>
      (await database.select({ rows: count() }).from(table).where(eq(table.spaceId, spaceId)))[0]?.rows ?? 0;

    /** The numbers of stored, billed and counted events of a space, and of ids in its ledger. */
    async function totals(spaceId: string) {
      while ((await foldStatistics(database)) > 0);
      const stats = await database.select().from(eventStats).where(eq(eventStats.spaceId, spaceId));
      const usage = await database.select().from(usageMonths).where(eq(usageMonths.spaceId, spaceId));
      const sum = (rows: { events: number }[]) => rows.reduce((total, row) => total + row.events, 0);
      return {
        stored: await countIn(events, spaceId),
        ids: await countIn(eventIds, spaceId),
        billed: sum(usage),
        counted: sum(stats),
      };
    }
    const exactly = (rows: number) => ({ stored: rows, ids: rows, billed: rows, counted: rows });

    test('`weir migrate --citus` distributes the tables by space; a concurrent or repeated run changes nothing', async () => {
      await using empty = await createCitusDatabase(citusUrl ?? '', { empty: true });
      const variables = { DATABASE_URL: empty.url };
      const runs = await Promise.all(
        [1, 2].map(() => runWeir(['migrate', '--citus', '--shards', '6'], variables)),
      );
      expect(runs.map(({ exitCode, stderr }) => [exitCode, stderr])).toEqual([
        [0, ''],
        [0, ''],
      ]);
      const done = runs.flatMap(({ stdout }) => JSON.parse(stdout).distributed);
      expect(done.toSorted()).toEqual(distributedTables.map(getTableName).toSorted());
      const again = await runWeir(['migrate', '--citus', '--shards', '8'], variables);
      expect(JSON.parse(again.stdout)).toEqual({ migrated: true, distributed: [] });
      await using other = openPostgres(empty.url, {
        applicationName: 'test',
        connectionsMax: 1,
        statementTimeoutMs: 0,
      });
      const shards = await other<{ name: string; shards: number; colocations: number }[]>`
      SELECT table_name::text AS name, shard_count::int AS shards, count(*) OVER (PARTITION BY colocation_id)::int AS colocations
      FROM citus_tables WHERE distribution_column = ${events.spaceId.name}`;
      expect(shards.length).toBeGreaterThan(distributedTables.length + 10);
      for (const table of shards) expect(table).toMatchObject({ shards: 6, colocations: shards.length });
    });

    test('concurrent statements of several spaces with overlapping events, in any order, store and bill each event once', async () => {
      const spaceIds = Array.from({ length: 5 }, () => randomUUIDv7());
      const sent = someEvents(100);
      const statements = Array.from({ length: 12 }, (_, i) => {
        const rotated = [...sent.slice(i * 8), ...sent.slice(0, i * 8)].slice(0, 75);
        return spaceIds.map((spaceId) => partOf(spaceId, i % 2 === 0 ? rotated : rotated.toReversed()));
      });
      const inserted = await Promise.all(statements.map((parts) => storeUntilDone(database, parts)));
      expect(inserted.reduce((sum, rows) => sum + rows)).toBe(500);
      for (const spaceId of spaceIds) expect(await totals(spaceId)).toEqual(exactly(100));
    });

    test('delays of storing are counted once per event, by several writers, for each space and all together', async () => {
      await foldDelays(database);
      const range = () => ({ fromMs: Date.now() - 3_600_000, toMs: Date.now() + 60_000 });
      const before = (await readDelays(database, noSpace, range())).total.events;
      const spaceIds = Array.from({ length: 3 }, () => randomUUIDv7());
      const parts = spaceIds.map((spaceId, i) => partOf(spaceId, someEvents(10 + i)));
      for (let repeat = 0; repeat < 2; repeat++) await storeUntilDone(database, parts);
      const counted = await Promise.all([1, 2, 3].map(() => foldDelays(database)));
      expect(counted.reduce((sum, events) => sum + events)).toBe(33);
      for (const [i, spaceId] of spaceIds.entries())
        expect((await readDelays(database, spaceId, range())).total).toMatchObject({ events: 10 + i });
      expect((await readDelays(database, noSpace, range())).total.events).toBe(before + 33);
      await deleteOldDelays(database);
    });

    test('a live tail has every event once while statements store several spaces', async () => {
      const spaceIds = Array.from({ length: 3 }, () => randomUUIDv7());
      const sent = new Map<string, string[]>(spaceIds.map((spaceId) => [spaceId, []]));
      let isWriting = true;
      const write = async () => {
        for (let i = 0; i < 20; i++) {
          const parts = spaceIds.map((spaceId) => {
            const list = someEvents(i % 5 === 0 ? 200 : 1);
            sent.get(spaceId)?.push(...list.map(({ id }) => String(id)));
            return partOf(spaceId, list);
          });
          await storeUntilDone(database, parts);
        }
      };
      const writing = Promise.all([write(), write()]).finally(() => {
        isWriting = false;
      });
      const read = async (spaceId: string) => {
        const seen: string[] = [];
        let after = firstPosition;
        for (let isLast = false; !isLast; ) {
          const isOver = !isWriting;
          const page = await readStoredPage(database, spaceId, { columns: { id: events.id }, after });
          if (page === undefined) throw new Error('the position is not known');
          seen.push(...page.events.map(({ row }) => row.id));
          after = page.end;
          isLast = isOver && page.isComplete;
        }
        return seen;
      };
      const seen = await Promise.all(spaceIds.map(read));
      await writing;
      for (const [at, spaceId] of spaceIds.entries())
        expect(seen[at]?.toSorted()).toEqual(sent.get(spaceId)?.toSorted());
      await deleteOldCommits(database);
    });

    test('only the event that Postgres rejects goes to quarantine, with its SQLSTATE, and it can be replayed', async () => {
      const spaceId = randomUUIDv7();
      await sql`ALTER TABLE events ADD CONSTRAINT poison CHECK (name <> 'poison')`;
      const poison = llmEvent({ properties: { llm: { model: 'poison' } } });
      const parts = [partOf(spaceId, [...someEvents(3), poison]), partOf(randomUUIDv7(), someEvents(2))];
      expect(await storeParts(database, parts)).toMatchObject({ inserted: 5, quarantined: 1 });
      const [entry] = await database.select().from(quarantine).where(eq(quarantine.spaceId, spaceId));
      expect(entry).toMatchObject({ id: poison.id, sqlstate: '23514' });
      await sql`ALTER TABLE events DROP CONSTRAINT poison`;
      expect(await replayQuarantined(database)).toEqual({ replayed: [poison.id], failed: [] });
      expect(await totals(spaceId)).toEqual(exactly(4));
    });

    test('lists, filters, single events and usage can be read', async () => {
      const space = await createSpace(database, 'read', {});
      const rare = llmEvent({ context: { userId: 'rare' }, startTimeMs: 7 });
      await insertParts(database, [partOf(space.id, [...someEvents(20), rare])]);
      const columns = { id: events.id, startTimeMs: events.startTimeMs };
      const first = await readEventPage(database, space.id, {
        columns,
        filter: {},
        after: undefined,
        limit: 15,
      });
      const rest = await readEventPage(database, space.id, {
        columns,
        filter: {},
        after: first.next,
        limit: 15,
      });
      expect([first.rows.length, rest.rows.length, rest.rows.at(-1)?.id]).toEqual([15, 6, rare.id]);
      const limits = { filter: { userId: 'rare' }, after: undefined, limit: 5 };
      const found = await readEventPage(database, space.id, { columns, ...limits });
      expect(found).toMatchObject({ rows: [{ id: rare.id }], isComplete: true });
      const [row] = await database
        .select({ segmentId: events.segmentId, segmentIndex: events.segmentIndex })
        .from(events)
        .where(eq(events.spaceId, space.id));
      const texts = await readEventTexts(database, space.id, row === undefined ? [] : [row]);
      expect(texts).toEqual([expect.stringContaining('"instrumentation"')]);
      expect(await readUsage(database, space.id)).toMatchObject({ events: 21 });
    });

    test('partitions of distributed tables are created, take over rows from the default partition, and are dropped', async () => {
      await using single = openPostgres(url, {
        applicationName: 'test',
        connectionsMax: 1,
        statementTimeoutMs: 60_000,
      });
      const alone = openDatabase(single);
      const [short, forEver] = [
        await createSpace(alone, 'short', { retentionDays: 7 }),
        await createSpace(alone, 'forever', {}),
      ];
      // These weeks have no partition yet, so the rows go to the default partition.
      await insertParts(database, [
        agedPart(short.id, someEvents(3), 90),
        agedPart(short.id, someEvents(2), 20),
      ]);
      await insertParts(database, [
        agedPart(forEver.id, someEvents(4), 20),
        agedPart(short.id, someEvents(1), 0),
      ]);
      expect(await findPartitionFaults(alone, Date.now())).toHaveLength(2);
      await ensurePartitions(alone, Date.now());
      expect(await findPartitionFaults(alone, Date.now())).toEqual([]);
      const report = await reportStorage(alone, undefined);
      expect(report.ledgerBytes).toBeGreaterThan(0);
      const result = await expireData(alone, {
        retentionDaysMax: undefined,
        nowMs: Date.now(),
        clock: new RetentionClock(),
      });
      expect(result).toMatchObject({ locked: [], events: 2 });
      expect(result?.dropped).toHaveLength(2);
      expect(await countIn(events, short.id)).toBe(1);
      expect(await countIn(events, forEver.id)).toBe(4);
      expect(await countIn(eventIds, short.id)).toBe(6);
      expect(await migrateDatabase(url)).toBeUndefined();
    });

    test('while a query reads the tables, no partition is dropped and writes continue; the drop follows later', async () => {
      const options = { applicationName: 'test', connectionsMax: 1, statementTimeoutMs: 60_000 };
      await using reader = openPostgres(url, options);
      await using single = openPostgres(url, options);
      const alone = openDatabase(single);
      const space = await createSpace(alone, 'dropped', { retentionDays: 7 });
      await insertParts(database, [agedPart(space.id, someEvents(2), 60)]);
      await ensurePartitions(alone, Date.now());
      const expire = () =>
        expireData(alone, { retentionDaysMax: undefined, nowMs: Date.now(), clock: new RetentionClock() });
      await reader`BEGIN`;
      await reader`SELECT count(*) FROM events`;
      let result: ExpireResult | undefined;
      const expiring = expire().then((expired) => {
        result = expired;
      });
      let writes = 0;
      for (; result === undefined; writes++)
        expect(await insertParts(database, [partOf(space.id, someEvents(1))])).toBe(1);
      await expiring;
      // If writes waited until the drop gave up, there would be only one.
      expect(writes).toBeGreaterThan(10);
      expect(result.dropped).toEqual([]);
      const { locked } = result;
      expect(locked).toHaveLength(2);
      await reader`COMMIT`;
      expect((await expire())?.dropped).toEqual(locked);
      expect(await countIn(events, space.id)).toBe(writes);
    });

    test('a deletion gives up, on the worker too, while another transaction has locked the segment', async () => {
      const options = { applicationName: 'test', connectionsMax: 1, statementTimeoutMs: 60_000 };
      await using writer = openPostgres(url, options);
      await using single = openPostgres(url, options);
      const alone = openDatabase(single);
      const space = await createSpace(alone, 'locked', { retentionDays: 7 });
      const keeper = await createSpace(alone, 'keeper', {});
      const parts = [agedPart(space.id, someEvents(4), 30), agedPart(keeper.id, someEvents(1), 30)];
      await insertParts(database, parts);
      await ensurePartitions(alone, Date.now());
      const expire = () =>
        expireData(alone, { retentionDaysMax: undefined, nowMs: Date.now(), clock: new RetentionClock() });
      await writer`BEGIN`;
      expect(await writer`SELECT 1 FROM segments WHERE space_id = ${space.id} FOR UPDATE`).toHaveLength(1);
      // Without a time-out it would wait for the COMMIT below, which never comes.
      expect(await expire()).toMatchObject({ events: 0 });
      await writer`COMMIT`;
      await expire();
      expect(await Promise.all([countIn(events, space.id), countIn(segments, space.id)])).toEqual([0, 0]);
      expect(await countIn(events, keeper.id)).toBe(1);
    });

    test('while shards move between workers, every event is stored, billed and counted once', async (context) => {
      const nodes = await sql<{ host: string; port: number }[]>`
      SELECT nodename AS host, nodeport AS port FROM pg_dist_node WHERE noderole = 'primary' AND shouldhaveshards`;
      if (nodes.length < 2) context.skip('the cluster has fewer than two nodes with shards');
      const spaceIds = Array.from({ length: 6 }, () => randomUUIDv7());
      let isMoved = false;
      let sent = 0;
      const store = async () => {
        for (; !isMoved; sent += 10) {
          const batch = someEvents(10);
          const parts = spaceIds.map((spaceId) => partOf(spaceId, batch));
          await storeUntilDone(database, parts);
          // Simulates redelivery.
          await storeUntilDone(database, parts);
        }
      };
      const fold = async () => {
        while (!isMoved) await foldStatistics(database).catch(() => 0);
      };
      const storing = [...Array.from({ length: concurrency }, store), fold(), fold()];
      const moves = await moveShards(sql, nodes).finally(async () => {
        isMoved = true;
        await Promise.all(storing);
      });
      expect(moves).toBeGreaterThan(3);
      expect(sent).toBeGreaterThan(concurrency * 10);
      for (const spaceId of spaceIds) expect(await totals(spaceId)).toEqual(exactly(sent));
    });
  },
);

/** Stores parts as the writer does: transient failures are retried. */
async function storeUntilDone(database: Database, parts: readonly Part[]): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    try {
      const { inserted, quarantined } = await storeParts(database, parts);
      expect(quarantined).toBe(0);
      return inserted;
    } catch (error) {
      if (attempt === 50) throw error;
    }
  }
}

/**
 * Moves every shard of the first table, with its co-located shards, to another node.
 * @returns the number of moved shards.
 */
async function moveShards(sql: Sql, nodes: readonly { host: string; port: number }[]): Promise<number> {
  const shards = await sql<{ id: string; host: string; port: number }[]>`
    SELECT shardid AS id, nodename AS host, nodeport AS port FROM citus_shards WHERE table_name = 'events'::regclass`;
  for (const { id, host, port } of shards) {
    const target = nodes.find((node) => node.host !== host || node.port !== port);
    if (target === undefined) throw new Error('there is no other node');
    await sql`SELECT citus_move_shard_placement(${id}, ${host}, ${port}, ${target.host}, ${target.port})`;
  }
  return shards.length;
}
