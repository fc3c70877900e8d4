import { randomUUIDv7 } from 'node:crypto';
import { and, eq, gte, lt, sql } from 'drizzle-orm';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { llmEvent, toolEvent } from '../../../harness/fixtures/events.ts';
import { insertParts } from '../../../harness/fixtures/insert-parts.ts';
import { partOf } from '../../../harness/fixtures/part.ts';
import { eraseRows } from '../../../operations/erasure/erased-segments.ts';
import { openPostgres } from '../../../store/db/connect.ts';
import { type Database, openDatabase } from '../../../store/db/database.ts';
import {
  dimensions,
  dimensionValues,
  erasures,
  eventStats,
  eventStatsRollups,
  events,
  sliceStats,
  sliceStatsRollups,
  spaces,
} from '../../../store/db/schema.ts';
import { nameOf } from '../../../store/db/statement.ts';
import { formatCost, unitsOfCost } from '../../../store/prices/decimal.ts';
import { matchTime, matchValues } from '../../../store/read/event-filter.ts';
import { dimensionValuesMax } from '../../../store/write/limits.ts';
import { changedRows, insertDeltas } from '../../../store/write/statistics/deltas.ts';
import { foldStatistics } from '../../../store/write/statistics/fold.ts';
import { forgetValues } from '../../../store/write/statistics/forget-values.ts';
import { keepDimensions } from '../../../store/write/statistics/keep-dimensions.ts';
import { listDimensions } from '../../../store/write/statistics/list-dimensions.ts';
import { selectCountedSegments, selectDimensions } from '../../../store/write/statistics/space-dimensions.ts';
import { createDatabase } from '../../../test/support/test-servers.ts';
import { readSeries } from '../alerts/read-series.ts';
import { readFacets } from '../events/facets.ts';
import type { FacetField } from '../events/newest-facets.ts';
import { facetValuesMax } from '../events/newest-facets.ts';
import { readChart } from './chart.ts';
import { readCosts } from './costs.ts';
import { type ChartGroup, findDimension } from './dimension.ts';
import { timeBoundaries } from './time-buckets.ts';
import { costsOfEvents, pricedColumns } from './token-prices.ts';
import { readTopCells } from './top-cells.ts';

const resources = new AsyncDisposableStack();
let database: Database;
beforeAll(async () => {
  const { url } = resources.use(await createDatabase());
  const options = { applicationName: 'test', connectionsMax: 3, statementTimeoutMs: 30_000 };
  database = openDatabase(resources.use(openPostgres(url, options)));
});
afterAll(() => resources.disposeAsync());

const dayMs = 24 * 3_600_000;
const firstMs = Date.UTC(2026, 2, 1, 22, 17);
const { signal } = new AbortController();

interface Sent {
  readonly isTool: boolean;
  readonly name: string;
  readonly user: string | undefined;
  readonly environment: string | number | undefined;
  readonly tenant: number;
  readonly isError: boolean;
  readonly startTimeMs: number;
  readonly durationMs: number;
  readonly input: number;
  readonly serviceTier: string | undefined;
}
const anySent: fc.Arbitrary<Sent> = fc.record({
  isTool: fc.boolean(),
  name: fc.constantFrom('gpt-5.5', 'claude-opus-4-8', 'unknown'),
  user: fc.constantFrom('mia', 'ben', 'eve', undefined),
  environment: fc.constantFrom('production', 'test=1', '', 'x'.repeat(200), 7, undefined),
  tenant: fc.nat(2_000),
  isError: fc.boolean(),
  startTimeMs: fc.integer({ min: firstMs, max: firstMs + 3 * dayMs }),
  durationMs: fc.integer({ min: 1, max: 60_000 }),
  input: fc.integer({ min: -5, max: 100_000 }),
  serviceTier: fc.constantFrom(undefined, 'priority', 'flex'),
});

function toEvent({
  isTool,
  name,
  user,
  environment,
  tenant,
  isError,
  startTimeMs,
  durationMs,
  input,
  serviceTier,
}: Sent): object {
  const changes = {
    ...{ startTimeMs, endTimeMs: startTimeMs, durationMs, status: { state: isError ? 'error' : 'ok' } },
    context: { ...(user && { userId: user }), agentId: 'agent' },
    additionalProperties: { tenant: `t${tenant}`, ...(environment !== undefined && { environment }) },
  };
  if (isTool) return toolEvent({ ...changes, properties: { tool: { name } } });
  const usage = { inputTokens: input, outputTokens: 3, inputTokenDetails: { audioTokens: 2 } };
  return llmEvent({
    ...changes,
    properties: { llm: { model: name, usage, ...(serviceTier && { serviceTier }) } },
  });
}

async function store(spaceId: string, sent: readonly Sent[]): Promise<void> {
  for (let from = 0; from < sent.length; from += 150)
    await insertParts(database, [partOf(spaceId, sent.slice(from, from + 150).map(toEvent))]);
}

const declare = async (spaceId: string, names: string[]) => {
  await database.update(spaces).set({ dimensions: names }).where(eq(spaces.id, spaceId));
};
const fold = async () => {
  while ((await foldStatistics(database)) > 0);
};

/** Erases the events of a user, as an erasure does. */
async function eraseUser(spaceId: string, userId: string): Promise<void> {
  const isOfUser = and(eq(events.spaceId, spaceId), eq(events.userId, userId));
  const found = await database.selectDistinct({ id: events.segmentId }).from(events).where(isOfUser);
  const erasure = { spaceId, matches: eq(events.userId, userId), note: async () => {} };
  await eraseRows(database, erasure, found.map(({ id }) => id).toSorted());
  await forgetValues(database, { spaceId, userId, beforeMs: Date.now() }, async () => {});
  await database.insert(erasures).values({ spaceId, subject: 'user', startedAt: new Date(), unwritten: [] });
}

/** Gives a user to some events without one, as spans do that come later than the calls below them. */
async function nameUsers(spaceId: string): Promise<void> {
  const space = sql`${spaceId}::uuid`;
  const isNamed = sql`${nameOf(events.userId)} IS NULL AND ${nameOf(events.segmentIndex)} % 3 = 0`;
  await database.execute(sql`
    WITH space_dimensions AS MATERIALIZED (${selectDimensions(sql`${nameOf(events.spaceId)} = ${space}`, sql`FOR SHARE`)}
    ), filled AS (
      UPDATE ${events} SET ${nameOf(events.userId)} = 'ben' WHERE ${nameOf(events.spaceId)} = ${space} AND ${isNamed}
      RETURNING old AS before, new AS after
    ), measured AS MATERIALIZED (${changedRows(sql`filled`)}
    ), counted_segments AS MATERIALIZED (${selectCountedSegments(space)}
    ), deltas AS (${insertDeltas({ from: sql`measured`, isStored: true })}
    ) SELECT`);
}

/**
 * The values of a dimension and the events without one have each event of the statistics of all events: in
 * each row, with its sums and its sketch. So a chart reads no sketches of the values that it does not show.
 */
async function compareWhole(spaceId: string, group: ChartGroup): Promise<void> {
  const dimension = await findDimension(database, spaceId, { group, filter: { type: 'llm' } });
  const boundaries = timeBoundaries(range);
  const query = { boundaries, group, filter: {}, dimension, groupsMax: 2 };
  expect((await readTopCells(database, spaceId, query)).cells).toBeDefined();
  const { events: count, errors, durationMs, inputTokens, outputTokens, latency } = eventStats;
  for (const [whole, sliced, times] of [
    [eventStats, sliceStats, [eventStats.minute]],
    [eventStatsRollups, sliceStatsRollups, [eventStatsRollups.spanHours, eventStatsRollups.startHour]],
  ] as const) {
    const names = [...times, eventStats.type, eventStats.name, eventStats.source].map(nameOf);
    const key = sql.join(names, sql`, `);
    const sums = sql.join(
      [count, errors, durationMs, inputTokens, outputTokens].map(
        (one) => sql`coalesce(sum(${nameOf(one)}), 0)`,
      ),
      sql`, `,
    );
    const mask = sql`((1::bigint << 40) - 1)`;
    const select = (rows: ReturnType<typeof sql>) => sql`
      SELECT ${key}, -1 AS bucket, ${sums} FROM ${rows} GROUP BY ${key}
      UNION ALL
      SELECT ${key}, element >> 40, sum(element & ${mask})::bigint & ${mask}, 0, 0, 0, 0
      FROM (SELECT ${key}, unnest(${nameOf(latency)}) AS element FROM ${rows}) AS elements
      GROUP BY ${key}, element >> 40 HAVING sum(element & ${mask})::bigint & ${mask} <> 0`;
    const ofAll = select(sql`${whole} WHERE ${eq(whole.spaceId, spaceId)}`);
    const ofDimension = and(
      ...[eq(sliced.spaceId, spaceId), eq(sliced.dimension, dimension?.number ?? 0)],
      eq(sliced.priceClass, ''),
    );
    const ofValues = select(sql`${sliced} WHERE ${ofDimension}`);
    const rows = await database.execute(
      sql`(${ofAll}) EXCEPT (${ofValues}) UNION ALL ((${ofValues}) EXCEPT (${ofAll}))`,
    );
    expect([...rows]).toEqual([]);
  }
}

const valueIn: Partial<Record<ChartGroup, ReturnType<typeof sql>>> = {
  user: sql`${events.userId}`,
  agent: sql`${events.agentId}`,
  'attr.environment': sql`${events.attributes} ->> 'environment'`,
  'attr.tenant': sql`${events.attributes} ->> 'tenant'`,
};
const range = {
  from: firstMs + 3_600_000,
  to: firstMs + 2 * dayMs,
  step: 'day' as const,
  timeZone: 'Europe/Zurich',
};

/** The values of a dimension that have statistics of their own. */
async function ownValues(spaceId: string, name: string): Promise<Set<string>> {
  const rows = await database
    .select({ value: dimensionValues.value })
    .from(dimensionValues)
    .innerJoin(
      dimensions,
      and(eq(dimensions.spaceId, dimensionValues.spaceId), eq(dimensions.number, dimensionValues.number)),
    )
    .where(and(eq(dimensions.spaceId, spaceId), eq(dimensions.name, name)));
  return new Set(rows.map(({ value }) => value));
}

/** Compares charts, costs and alerts by a dimension with what SQL counts. */
async function compare(spaceId: string, group: ChartGroup, own: ReadonlySet<string>): Promise<void> {
  for (const filter of [{}, { type: 'llm' as const, name: 'gpt-5.5' }]) {
    const chart = await readChart({ database, spaceId }, { ...range, groupBy: group, filter, groupsMax: 50 });
    const isCounted = and(
      ...[
        eq(events.spaceId, spaceId),
        gte(events.startTimeMs, chart.starts[0] ?? 0),
        lt(events.startTimeMs, chart.end),
      ],
      sql`${valueIn[group]} IS NOT NULL`,
      filter.name === undefined ? undefined : and(eq(events.type, 'llm'), eq(events.name, filter.name)),
    );
    const stored = await database
      .select({
        ...{ ...pricedColumns, state: events.state, durationMs: events.durationMs },
        value: sql<string>`${valueIn[group]}`,
      })
      .from(events)
      .where(isCounted);
    const summed = (rows: typeof stored) => ({
      events: rows.length,
      errors: rows.filter(({ state }) => state === 'error').length,
      inputTokens: rows.reduce((sum, { inputTokens }) => sum + (inputTokens ?? 0), 0),
    });
    const byValue = Map.groupBy(stored, ({ value }) => (own.has(value) ? value : null));
    const sizes = [...byValue].flatMap(([value, rows]) =>
      value === null ? [] : [{ value, size: rows.length }],
    );
    const shown = sizes.toSorted((a, b) => b.size - a.size || (a.value < b.value ? -1 : 1)).slice(0, 50);
    const names = new Set(shown.map(({ value }) => value));
    const others = stored.filter(({ value }) => !own.has(value) || !names.has(value));
    const expected = [
      ...shown.map(({ value }) => ({ group: value, total: summed(byValue.get(value) ?? []) })),
      ...(others.length === 0 ? [] : [{ group: null, total: summed(others) }]),
    ];
    expect(chart.series).toMatchObject(expected);
    expect(chart.series.map(({ group: one }) => one)).toEqual(expected.map(({ group: one }) => one));
    for (const { group: value, total } of chart.series) {
      const rows = value === null ? others : (byValue.get(value) ?? []);
      const sorted = rows.map(({ durationMs }) => durationMs).toSorted((a, b) => a - b);
      const exact = sorted[Math.max(0, Math.ceil(0.95 * sorted.length) - 1)] ?? 0;
      expect(Math.abs((total.p95Ms ?? Number.NaN) - exact)).toBeLessThanOrEqual(exact * 0.05 + 1e-9);
    }
    await compareCosts(spaceId, { group, filter, stored, own });
    const field = group === 'user' || group === 'agent' ? (`${group}Id` as const) : group;
    await compareFacet(spaceId, field as FacetField, { group, filter, own });
  }
  const [value] = own;
  if (!group.startsWith('attr.') || value === undefined) return;
  const endMs = firstMs - (firstMs % dayMs) + 4 * dayMs;
  const times = { startMs: endMs - 5 * dayMs, endMs, stepMs: dayMs };
  const condition = {
    kind: 'events' as const,
    filter: { attributeKey: group.slice(5), attributeValue: value },
  };
  const { buckets } = await readSeries(database, spaceId, { rule: condition, ...times });
  const has = and(eq(events.spaceId, spaceId), sql`${valueIn[group]} = ${value}`);
  expect(buckets.reduce((sum, bucket) => sum + (bucket?.events ?? 0), 0)).toBe(
    await database.$count(events, has),
  );
}

/**
 * Compares the values counted beside a list with SQL: also without a model, of errors alone, and by prefix.
 */
async function compareFacet(
  spaceId: string,
  field: FacetField,
  { group, filter, own }: { group: ChartGroup; filter: object; own: ReadonlySet<string> },
): Promise<void> {
  const { from, to } = range;
  const lists = [{}, { not: [{ column: 'name', value: 'unknown' }] }, { state: 'error' }] as const;
  for (const [place, list] of lists.entries()) {
    const asked = { ...filter, ...list, from, to };
    const prefix = place === 0 ? 'T1' : '';
    const [facet] = await readFacets({ database, spaceId }, { fields: [field], prefix, filter: asked });
    const rows = await database
      .select({ value: sql<string>`${valueIn[group]}`, events: sql<number>`count(*)::integer` })
      .from(events)
      .where(
        and(eq(events.spaceId, spaceId), matchTime(asked), matchValues(asked), sql`${valueIn[group]} <> ''`),
      )
      .groupBy(sql`1`);
    rows.sort((a, b) => b.events - a.events || (a.value < b.value ? -1 : 1));
    // What is counted together may begin with the prefix.
    const matching = rows.filter(({ value }) => !own.has(value) || /^t1/i.test(value) || prefix === '');
    const shown = matching.filter(({ value }) => own.has(value)).slice(0, facetValuesMax);
    const others = matching.filter((row) => !shown.includes(row)).reduce((sum, { events: n }) => sum + n, 0);
    expect(facet).toEqual({ field, values: shown, others, newest: null });
  }
}

async function compareCosts(
  spaceId: string,
  {
    group,
    filter,
    stored,
    own,
  }: { group: ChartGroup; filter: object; stored: PricedRows; own: ReadonlySet<string> },
): Promise<void> {
  const each = await costsOfEvents(database, spaceId, stored);
  const units = new Map<string | null, bigint>();
  for (const [place, { value }] of stored.entries()) {
    const key = own.has(value) ? value : null;
    units.set(key, (units.get(key) ?? 0n) + unitsOfCost(each[place]?.cost ?? '0'));
  }
  const costs = await readCosts({ database, spaceId }, { ...range, groupBy: group, filter });
  const found = new Map(costs.models.map(({ model, cost }) => [model, cost]));
  for (const [value, sum] of units)
    expect([value, found.get(value) ?? '0']).toEqual([value, formatCost(sum)]);
}
type PricedRows = (Parameters<typeof costsOfEvents>[2][number] & { value: string })[];

test('charts, costs and alerts by dimensions equal SQL: declared before, between and after events, past the bound, with an erasure', async () => {
  const spaceId = randomUUIDv7();
  await database.insert(spaces).values({ id: spaceId, name: 'sliced', dimensions: ['attr.environment'] });
  const sent = fc.sample(anySent, { numRuns: 3_600, seed: 20_261_127 });
  const parts = [0, 1, 2, 3].map((part) => sent.slice(part * 900, (part + 1) * 900));
  const [before = [], between = [], after = [], last = []] = parts;
  await keepDimensions(database, signal);
  await store(spaceId, before);
  await declare(spaceId, ['attr.environment', 'user', 'agent']);
  await keepDimensions(database, signal);
  await store(spaceId, between);
  await foldStatistics(database);
  // While a dimension has not counted what was stored before.
  await declare(spaceId, ['attr.environment', 'user', 'agent', 'attr.tenant']);
  await store(spaceId, after.slice(0, 300));
  await keepDimensions(database, AbortSignal.abort());
  await nameUsers(spaceId);
  await eraseUser(spaceId, 'eve');
  await keepDimensions(database, signal);
  await store(spaceId, after.slice(300));
  expect(await listDimensions(database, spaceId)).toEqual(
    ['attr.environment', 'user', 'agent', 'attr.tenant'].map((name) =>
      expect.objectContaining({ name, counted: 1 }),
    ),
  );
  for (const step of ['unfolded', 'folded', 'erased']) {
    if (step !== 'unfolded') await fold();
    if (step === 'erased') {
      await store(spaceId, last);
      await eraseUser(spaceId, 'mia');
    }
    if (step !== 'unfolded')
      for (const group of ['attr.environment', 'user', 'agent', 'attr.tenant'] as const)
        await compare(spaceId, group, await ownValues(spaceId, group));
    if (step !== 'unfolded')
      for (const group of ['attr.environment', 'user', 'agent', 'attr.tenant'] as const)
        await compareWhole(spaceId, group);
    else await compare(spaceId, 'attr.environment', new Set(['production', 'test=1', '', '7']));
  }
  expect((await ownValues(spaceId, 'attr.tenant')).size).toBe(dimensionValuesMax);
  expect(await ownValues(spaceId, 'user')).not.toContain('mia');
  for (const table of [sliceStats, sliceStatsRollups])
    expect(await database.$count(table, and(eq(table.spaceId, spaceId), eq(table.value, '=mia')))).toBe(0);
});

test('the others of a chart are all events minus the groups shown, also when a later event has no value', async () => {
  const spaceId = randomUUIDv7();
  const names = ['attr.environment', 'attr.tenant'] as const;
  await database.insert(spaces).values({ id: spaceId, name: 'whole', dimensions: [...names] });
  await keepDimensions(database, signal);
  const compareAll = async () => {
    for (const name of names) await compare(spaceId, name, await ownValues(spaceId, name));
  };
  const sent = fc.sample(anySent, { numRuns: 600, seed: 11 });
  const known = sent.filter(({ environment }) => environment !== undefined);
  await store(spaceId, known.slice(0, 150));
  await fold();
  // Charts read what is folded together with what is not.
  await store(
    spaceId,
    known.slice(150, 300).map((one) => ({ ...one, tenant: known[0]?.tenant ?? 0 })),
  );
  await compareAll();
  const { from, to } = range;
  const filter = { from, to, attributes: [{ key: 'environment', value: 'production' }] };
  const asked = { fields: ['model' as const], prefix: 'gpt', filter };
  const [models] = await readFacets({ database, spaceId }, asked);
  expect(models).toMatchObject({ values: [{ value: 'gpt-5.5' }], newest: null });
  await store(
    spaceId,
    sent.filter(({ environment }) => environment === undefined),
  );
  await fold();
  await compareAll();
});

test('costs by agent need the dimension: without it a chart is refused, and an alert counts events', async () => {
  const spaceId = randomUUIDv7();
  await database.insert(spaces).values({ id: spaceId, name: 'agents' });
  await store(spaceId, fc.sample(anySent, { numRuns: 60, seed: 5 }));
  for (const sliced of [
    { groupBy: 'agent' as const, filter: {} },
    { groupBy: 'model' as const, filter: { agentId: 'agent' } },
  ]) {
    const read = readCosts({ database, spaceId }, { ...range, ...sliced });
    await expect(read).rejects.toMatchObject({ code: 'BAD_REQUEST' });
  }
  const startMs = firstMs - (firstMs % dayMs);
  const times = { startMs, endMs: startMs + 5 * dayMs, stepMs: dayMs };
  const read = (filter: object) =>
    readSeries(database, spaceId, { rule: { kind: 'cost', filter }, ...times });
  const { buckets } = await read({ agentId: 'agent' });
  expect(buckets.map((bucket) => bucket?.cost?.cost)).toEqual(
    (await read({})).buckets.map((bucket) => bucket?.cost?.cost),
  );
  expect(buckets.some((bucket) => (bucket?.events ?? 0) > 0)).toBe(true);
});

test('a dimension that is no longer declared is deleted, and counted anew when it is declared again', async () => {
  const spaceId = randomUUIDv7();
  await database.insert(spaces).values({ id: spaceId, name: 'again', dimensions: ['user'] });
  const sent = fc.sample(anySent, { numRuns: 120, seed: 3 });
  await keepDimensions(database, signal);
  await store(spaceId, sent.slice(0, 60));
  await declare(spaceId, []);
  await keepDimensions(database, signal);
  await fold();
  expect(
    await database.$count(sliceStats, and(eq(sliceStats.spaceId, spaceId), sql`${sliceStats.dimension} > 0`)),
  ).toBe(0);
  const read = () =>
    readChart({ database, spaceId }, { ...range, groupBy: 'user', filter: {}, groupsMax: 3 });
  await expect(read()).rejects.toThrow('not a dimension of the space');
  await store(spaceId, sent.slice(60));
  // The dimension never counts what was erased before: the sketches of all its values are read.
  await eraseUser(spaceId, 'eve');
  await declare(spaceId, ['user']);
  await keepDimensions(database, signal);
  await compare(spaceId, 'user', new Set(['mia', 'ben']));
});
