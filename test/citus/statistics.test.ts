import { randomUUIDv7 } from 'node:crypto';
import { asc, eq, getTableColumns, type SQL, sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { llmEvent } from '../../harness/fixtures/events.ts';
import { insertParts } from '../../harness/fixtures/insert-parts.ts';
import { partOf } from '../../harness/fixtures/part.ts';
import { citusUrl, createCitusDatabase, turnTimeoutMs } from '../../harness/system/citus-database.ts';
import { eraseRows } from '../../operations/erasure/erased-segments.ts';
import { readChart } from '../../services/dashboard-api/charts/chart.ts';
import type { ChartGroup } from '../../services/dashboard-api/charts/dimension.ts';
import { openPostgres } from '../../store/db/connect.ts';
import { type Database, openDatabase } from '../../store/db/database.ts';
import {
  agentStats,
  agentStatsRollups,
  deletedSpaces,
  dimensionValues,
  eventStats,
  eventStatsRollups,
  events,
  sliceStats,
  sliceStatsRollups,
  spaces,
  statisticDeltas,
} from '../../store/db/schema.ts';
import { foldStatistics } from '../../store/write/statistics/fold.ts';
import { forgetValues } from '../../store/write/statistics/forget-values.ts';
import { keepDimensions } from '../../store/write/statistics/keep-dimensions.ts';
import { createDatabase } from '../support/test-servers.ts';

const tables = [
  ...[eventStats, eventStatsRollups, agentStats, agentStatsRollups],
  ...[sliceStats, sliceStatsRollups, dimensionValues],
];

/**
 * Everything that is counted of a space. The order in which sketches are joined is left out, and so are the
 * places of erased values.
 */
async function readStatistics(database: Database, spaceId: string): Promise<unknown[]> {
  return Promise.all(
    tables.map(async (table) => {
      const { spaceId: ofSpace, ...columns } = getTableColumns(table);
      const shown = Object.entries(columns).map(([name, column]): [string, SQL] => [
        name,
        name === 'latency'
          ? sql`(SELECT sum(one & 1099511627775) FROM unnest(${column}) AS one)`
          : sql`${column}`,
      ]);
      const rows = await database.select(Object.fromEntries(shown)).from(table).where(eq(ofSpace, spaceId));
      return rows.map((row) => JSON.stringify(row).replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, 'gone')).toSorted();
    }),
  );
}

describe.skipIf(citusUrl === undefined)(
  'statistics on the Citus cluster of WEIR_TEST_CITUS_URL',
  { timeout: 300_000 },
  () => {
    const resources = new AsyncDisposableStack();
    let cluster: Database;
    let plain: Database;
    beforeAll(async () => {
      const pool = { applicationName: 'test', connectionsMax: 4, statementTimeoutMs: 60_000 };
      const open = (url: string) => openDatabase(resources.use(openPostgres(url, pool)));
      cluster = open(resources.use(await createCitusDatabase(citusUrl ?? '')).url);
      plain = open(resources.use(await createDatabase()).url);
    }, turnTimeoutMs);
    afterAll(() => resources.disposeAsync());

    const sent = Array.from({ length: 900 }, (_, at) =>
      llmEvent({
        startTimeMs: Date.UTC(2026, 10, 1) + at * 97_000,
        durationMs: 1 + (at % 4_000),
        context: {
          ...(at % 9 > 0 && { userId: `u${at % 7}` }),
          ...(at % 2 === 0 && { agentId: `a${at % 3}` }),
        },
        additionalProperties: { tenant: `t${at % 400}=${'x'.repeat(at % 160)}` },
        properties: {
          llm: {
            model: `m${at % 3}`,
            usage: { inputTokens: at, outputTokens: 3, inputTokenDetails: { audioTokens: 2 } },
            ...(at % 5 === 0 && { serviceTier: 'priority' }),
          },
        },
      }),
    );
    const range = {
      ...{ from: Date.UTC(2026, 10, 1), to: Date.UTC(2026, 10, 3) },
      ...{ step: 'hour' as const, timeZone: 'UTC' },
    };
    const fold = async (database: Database) => {
      while ((await foldStatistics(database)) > 0);
    };

    /**
     * Every step on one database.
     * @returns what is counted after each of the last two, and charts before the erasure.
     */
    async function count(database: Database): Promise<unknown[]> {
      const [spaceId, other] = [randomUUIDv7(), randomUUIDv7()];
      const { signal } = new AbortController();
      const declare = (dimensions: string[]) =>
        database.update(spaces).set({ dimensions }).where(eq(spaces.id, spaceId));
      const store = async (from: number, to: number) => {
        for (let at = from; at < to; at += 50)
          await insertParts(database, [
            partOf(spaceId, sent.slice(at, at + 50)),
            partOf(other, [llmEvent()]),
          ]);
      };
      await database.insert(spaces).values({ id: spaceId, name: 'counted' });
      await store(0, 300);
      await declare(['user', 'attr.tenant']);
      await keepDimensions(database, signal);
      await Promise.all([store(300, 600), store(600, 900), fold(database), fold(database)]);
      await fold(database);
      expect(await database.$count(statisticDeltas)).toBe(0);
      const counted = await readStatistics(database, spaceId);
      const chartBy = (groupBy: ChartGroup) =>
        readChart({ database, spaceId }, { ...range, groupBy, filter: {}, groupsMax: 3 });
      // Some events have no user; the tenants of some are too long to be counted.
      const charts = [await chartBy('user'), await chartBy('attr.tenant')];
      const isErased = sql`${eq(events.spaceId, spaceId)} AND ${eq(events.userId, 'u3')}`;
      const segments = await database
        .selectDistinct({ id: events.segmentId })
        .from(events)
        .where(isErased)
        .orderBy(asc(events.segmentId));
      const erasure = { spaceId, matches: eq(events.userId, 'u3'), note: async () => {} };
      await eraseRows(
        database,
        erasure,
        segments.map(({ id }) => id),
      );
      await forgetValues(database, { spaceId, userId: 'u3', beforeMs: Date.now() }, async () => {});
      await declare(['attr.tenant']);
      await keepDimensions(database, signal);
      return [counted, charts, await readStatistics(database, spaceId)];
    }

    test('a space whose deletion has begun is not counted, alone on its shard or beside others', async () => {
      const spaceIds = Array.from({ length: 6 }, () => randomUUIDv7());
      await insertParts(
        cluster,
        spaceIds.map((spaceId) => partOf(spaceId, [llmEvent()])),
      );
      const [kept = '', ...gone] = spaceIds;
      const deleted = { name: 'deleted', requestedAt: new Date(), requestedBy: 'operator' };
      await cluster.insert(deletedSpaces).values(gone.map((spaceId) => ({ spaceId, ...deleted })));
      expect(await foldStatistics(cluster)).toBe(6);
      expect(await cluster.selectDistinct({ spaceId: eventStats.spaceId }).from(eventStats)).toEqual([
        { spaceId: kept },
      ]);
    });

    test('are as on one Postgres: of events stored before a dimension, by several writers, without an erased user and a removed dimension', async () => {
      const expected = await count(plain);
      expect(JSON.stringify(expected)).toContain('t399=');
      expect(await count(cluster)).toEqual(expected);
    });
  },
);
