import { randomUUIDv7 } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import { count, eq, inArray } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GroupSchema } from '../../gen/weir/queue/v1/queue_pb.ts';
import { someEvents } from '../../harness/fixtures/events.ts';
import { partOf } from '../../harness/fixtures/part.ts';
import { TcpProxy } from '../../harness/network/tcp-proxy.ts';
import { citusUrl, createCitusDatabase, turnTimeoutMs } from '../../harness/system/citus-database.ts';
import { openLog } from '../../platform/log.ts';
import type { Delivered } from '../../services/writer/delivered.ts';
import { startStoreWorkers } from '../../services/writer/store-workers.ts';
import { openPostgres, type Sql } from '../../store/db/connect.ts';
import { type Database, openDatabase } from '../../store/db/database.ts';
import { readPlacements } from '../../store/db/layout/cluster-nodes.ts';
import { eventIds, events, statisticDeltas, usageMonths } from '../../store/db/schema.ts';
import { foldStatistics } from '../../store/write/statistics/fold.ts';
import { until } from '../support/wait.ts';

/** A statement that hangs on a node ends after this time. */
const statementTimeoutMs = 4_000;

const isLocal = citusUrl !== undefined && new URL(citusUrl).hostname === '127.0.0.1';

describe.skipIf(!isLocal)(
  'a failed worker of the Citus cluster of WEIR_TEST_CITUS_URL, on this machine',
  () => {
    const resources = new AsyncDisposableStack();
    const proxies: TcpProxy[] = [];
    let sql: Sql;
    let database: Database;
    /** For queries of the test, so that they need no connection of the writer. */
    let checked: Database;
    let spaces: { lost: string[]; kept: string[] };
    beforeAll(async () => {
      const { url } = resources.use(
        await createCitusDatabase(citusUrl ?? '', {
          through: async ({ port }) => {
            const proxy = resources.use(await TcpProxy.open(port));
            proxies.push(proxy);
            return { host: '127.0.0.1', port: proxy.port };
          },
        }),
      );
      sql = resources.use(
        openPostgres(url, {
          applicationName: 'test',
          connectionsMax: 3,
          statementTimeoutMs,
          lockTimeoutMs: 2_000,
        }),
      );
      database = openDatabase(sql);
      checked = openDatabase(
        resources.use(
          openPostgres(url, { applicationName: 'check', connectionsMax: 4, statementTimeoutMs: 15_000 }),
        ),
      );
      const ids = Array.from({ length: 12 }, () => randomUUIDv7());
      const placements = await readPlacements(database, ids);
      const lostNode = `127.0.0.1:${proxies.at(-1)?.port}`;
      const groups = Map.groupBy(ids, (id) => placements?.get(id) === lostNode);
      spaces = { lost: groups.get(true) ?? [], kept: groups.get(false) ?? [] };
      expect([spaces.lost.length > 0, spaces.kept.length > 0]).toEqual([true, true]);
    }, turnTimeoutMs);
    afterAll(() => resources.disposeAsync());

    const storedOf = async (spaceId: string) =>
      (await checked.select({ rows: count() }).from(events).where(eq(events.spaceId, spaceId)))[0]?.rows;

    test.each([
      ['refuses connections', (proxy: TcpProxy) => proxy.cut()],
      ['does not answer', (proxy: TcpProxy) => proxy.blackhole()],
    ])(
      'while it %s, events of its spaces wait, and all others are stored; then each is stored once',
      async (_, fail) => {
        const proxy = proxies.at(-1);
        if (proxy === undefined) throw new Error('the cluster has no worker');
        const log = openLog('test', { LOG_LEVEL: 'silent' });
        await using writer = startStoreWorkers({ database, log, concurrency: 3 });
        const queue = openQueue(writer);
        const all = [...spaces.lost, ...spaces.kept];
        const before = new Map<string, number>();
        for (const spaceId of all) before.set(spaceId, (await storedOf(spaceId)) ?? 0);
        await fail(proxy);
        // Every message has events of all spaces, as those of a busy ingest.
        for (let i = 0; i < 8; i++) queue.add(all);
        const grown = async (spaceId: string) =>
          ((await storedOf(spaceId)) ?? 0) - (before.get(spaceId) ?? 0);
        await until(
          async () => (await Promise.all(spaces.kept.map(grown))).every((rows) => rows === 16),
          100_000,
        );
        await until(() => writer.failedNodes.length === 1);
        expect(writer.failedNodes.map(({ node, spaceIds }) => [node, [...spaceIds].toSorted()])).toEqual([
          [`127.0.0.1:${proxy.port}`, spaces.lost.toSorted()],
        ]);
        expect(queue.acknowledged()).toBe(0);
        const unfolded = () => checked.$count(statisticDeltas, inArray(statisticDeltas.spaceId, spaces.kept));
        expect(await unfolded()).toBeGreaterThan(0);
        await expect(foldStatistics(checked)).rejects.toThrow();
        expect(await unfolded()).toBe(0);
        await proxy.heal();
        await until(() => queue.acknowledged() === 8, 100_000);
        expect(writer.failedNodes).toEqual([]);
        for (const spaceId of all) {
          expect(await grown(spaceId)).toBe(16);
          const [ids] = await database
            .select({ rows: count() })
            .from(eventIds)
            .where(eq(eventIds.spaceId, spaceId));
          const [usage] = await checked.select().from(usageMonths).where(eq(usageMonths.spaceId, spaceId));
          expect([ids?.rows, usage?.events]).toEqual([await storedOf(spaceId), await storedOf(spaceId)]);
        }
      },
      300_000,
    );
  },
);

/** A queue that redelivers as JetStream does. */
function openQueue(writer: ReturnType<typeof startStoreWorkers>) {
  let sequence = 0;
  let acknowledged = 0;
  const deliver = (data: Uint8Array, position: Delivered['position'], deliveries: number) =>
    writer.receive({
      data,
      position,
      deliveries,
      queuedAtMs: Date.now(),
      readTraceparent: () => undefined,
      ack: () => {
        acknowledged += 1;
      },
      nak: (delayMs) => void setTimeout(() => deliver(data, position, deliveries + 1), delayMs),
      working: () => {},
    });
  return {
    /** Adds a message with two events of each space. */
    add(spaceIds: readonly string[]) {
      const parts = spaceIds.map((spaceId) => partOf(spaceId, someEvents(2)));
      sequence += 1;
      deliver(toBinary(GroupSchema, create(GroupSchema, { parts })), { stream: 'WEIR_EVENTS', sequence }, 1);
    },
    acknowledged: () => acknowledged,
  };
}
