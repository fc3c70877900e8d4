import type { SQL } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../../store/db/database.ts';
import { openDashboard, type TestDashboard } from '../../../test/support/dashboard.ts';
import { chartCellsMax, readChart } from './chart.ts';
import { visitPricedCells } from './priced-cells.ts';
import { readCellsInParts, rowsAtOnceMax } from './read-cells.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

const minutes = 1_440;
const models = 75;
const from = Date.UTC(2026, 3, 1);

/** The same by a dimension: each model has one user. */
async function addUsers(spaceId: string): Promise<void> {
  const { sql } = dashboard;
  await sql`INSERT INTO dimensions (space_id, number, name, declared_at, counted_at)
    VALUES (${spaceId}, 1, 'user', now(), now())`;
  const key = sql`1, '=user-' || substr(name, 7), type, name, source, '', events, duration_ms, latency`;
  await sql`ALTER TABLE slice_stats SET (autovacuum_enabled = false)`;
  await sql`INSERT INTO slice_stats
    (space_id, minute, dimension, value, type, name, source, price_class, events, duration_ms, latency, input_tokens)
    SELECT space_id, minute, ${key}, input_tokens FROM event_stats WHERE space_id = ${spaceId}`;
  await sql`INSERT INTO slice_stats_rollups (space_id, span_hours, start_hour,
      dimension, value, type, name, source, price_class, events, duration_ms, latency, input_tokens)
    SELECT space_id, span_hours, start_hour, ${key}, input_tokens
    FROM event_stats_rollups WHERE space_id = ${spaceId}`;
}

/**
 * Adds statistics of models in each minute of a day, which Postgres has not analyzed: the first models have
 * the most events.
 */
async function addStatistics(spaceId: string): Promise<void> {
  const { sql } = dashboard;
  const sums = sql`sum(events), 10 * sum(events), sum(input_tokens), '{}'::bigint[]`;
  await sql`ALTER TABLE event_stats SET (autovacuum_enabled = false)`;
  await sql`INSERT INTO event_stats (space_id, minute, type, name, source, events, duration_ms, input_tokens, latency)
    SELECT ${spaceId}, ${from / 60_000}::bigint + minute, 'llm', 'model-' || model, 's', ${models} - model, 10, 1000 * (model + 1), '{}'
    FROM generate_series(0, ${minutes - 1}) AS minute, generate_series(0, ${models - 1}) AS model`;
  for (const spanHours of [1, 6])
    await sql`INSERT INTO event_stats_rollups (space_id, span_hours, start_hour, type, name, source, events, duration_ms, input_tokens, latency)
      SELECT space_id, ${spanHours}, minute / (60 * ${spanHours}::bigint) * ${spanHours}, type, name, source, ${sums}
      FROM event_stats WHERE space_id = ${spaceId} GROUP BY 1, 3, 4, 5, 6`;
}

test('a chart of many models by minute has the cost of each model, and a bounded number of points that add up to it', async () => {
  const { spaceId, client } = await dashboard.addSpace();
  await addStatistics(spaceId);
  // Read in several statements.
  expect(models * minutes).toBeGreaterThan(2 * rowsAtOnceMax);
  for (const model of [0, 1, models - 1])
    await client.trpc.prices.set.mutate({ model: `model-${model}`, input: '1', output: '1' });
  const range = { from, to: from + minutes * 60_000, step: 'minute' as const };
  const costs = await client.trpc.charts.costs.query(range);
  const shown = costs.models.filter(({ model }) => model !== null);
  expect(shown.map(({ model }) => model)).toEqual(Array.from({ length: models }, (_, i) => `model-${i}`));
  const dollars = (model: number) => (minutes * 1_000 * (model + 1)) / 1e6;
  expect(shown.map(({ cost }) => cost && Number(cost))).toEqual(
    Array.from({ length: models }, (_, i) => (i < 2 || i === models - 1 ? dollars(i) : null)),
  );
  const points = costs.models.flatMap(({ points }) => points);
  expect(points.length).toBeLessThanOrEqual(chartCellsMax);
  const perBucket = Map.groupBy(points, ({ bucket }) => bucket);
  const sums = Array.from(perBucket.values(), (own) => own.reduce((sum, { cost }) => sum + Number(cost), 0));
  const each = (dollars(0) + dollars(1) + dollars(models - 1)) / minutes;
  expect(sums).toEqual(Array.from({ length: minutes }, () => expect.closeTo(each, 9)));
  expect(Number(costs.total.cost)).toBeCloseTo(minutes * each, 9);

  const chart = await client.trpc.charts.events.query({ ...range, groupBy: 'model', groupsMax: 50 });
  expect(chart.series.flatMap(({ points }) => points).length).toBeLessThanOrEqual(chartCellsMax);
  // As many as by default are shown separately in any chart.
  expect(chart.series.slice(0, 10).map(({ group }) => group)).toEqual(
    Array.from({ length: 10 }, (_, i) => `model-${i}`),
  );
  const all = Array.from({ length: models }, (_, i) => models - i).reduce(
    (sum, one) => sum + one * minutes,
    0,
  );
  expect(chart.series.reduce((sum, { total }) => sum + total.events, 0)).toBe(all);
  expect(chart.series.at(-1)?.group).toBeNull();
  // No statement reads more rows than it sorts in memory.
  const boundaries = [...chart.starts, chart.end];
  const query = { boundaries, group: 'none', filter: {}, groupsMax: 1, withDurations: true } as const;
  const parts = await Array.fromAsync(readCellsInParts(dashboard.database, spaceId, query));
  for (const cells of parts) expect(cells.length * models).toBeLessThanOrEqual(rowsAtOnceMax);
  expect(parts.flat().map(({ bucket }) => bucket)).toEqual([...chart.starts.keys()]);
  // Costs read each row once, whatever the number of models: the buckets of all come in one pass.
  const buckets: number[] = [];
  const { database } = dashboard;
  await visitPricedCells({ database, spaceId }, { boundaries, filter: {} }, ({ bucket }) =>
    buckets.push(bucket),
  );
  expect(buckets).toHaveLength(models * minutes);
  expect(buckets).toEqual(buckets.toSorted((a, b) => a - b));
}, 60_000);

test('a chart of many users by minute is read in parts, too, and adds up to all events', async () => {
  const { spaceId } = await dashboard.addSpace();
  await addStatistics(spaceId);
  await addUsers(spaceId);
  const buckets: number[] = [];
  const database: Database = Object.create(dashboard.database, {
    execute: {
      value: async (statement: SQL) => {
        const rows: readonly Record<string, unknown>[] = await dashboard.database.execute(statement);
        buckets.push(new Set(rows.map(({ bucket }) => bucket)).size);
        return rows;
      },
    },
  });
  const range = { from, to: from + minutes * 60_000, step: 'minute', timeZone: 'UTC' } as const;
  const query = { ...range, groupBy: 'user', filter: {}, groupsMax: 10 } as const;
  const { series } = await readChart({ database, spaceId }, query);
  const all = Array.from({ length: models }, (_, i) => (models - i) * minutes);
  const sumOf = (counts: readonly number[]) => counts.reduce((sum, one) => sum + one, 0);
  expect(series.map(({ group, total }) => [group, total.events])).toEqual([
    ...all.slice(0, 10).map((events, i) => [`user-${i}`, events]),
    [null, sumOf(all.slice(10))],
  ]);
  expect(Math.max(...buckets) * models).toBeLessThanOrEqual(rowsAtOnceMax);
}, 60_000);
