import { randomUUID } from 'node:crypto';
import { and, eq, lt } from 'drizzle-orm';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { llmEvent, toolEvent } from '../../../harness/fixtures/events.ts';
import { insertParts } from '../../../harness/fixtures/insert-parts.ts';
import { partOf } from '../../../harness/fixtures/part.ts';
import { openPostgres } from '../../../store/db/connect.ts';
import { type Database, openDatabase } from '../../../store/db/database.ts';
import { erasures, events } from '../../../store/db/schema.ts';
import type { EventFilter } from '../../../store/read/event-filter.ts';
import { readEventPage } from '../../../store/read/event-page.ts';
import { foldStatistics } from '../../../store/write/statistics/fold.ts';
import { createDatabase } from '../../../test/support/test-servers.ts';
import { type ChartQuery, readChart } from './chart.ts';
import { readHistogram } from './histogram.ts';
import { timeBoundaries } from './time-buckets.ts';

const resources = new AsyncDisposableStack();
let database: Database;
beforeAll(async () => {
  const { url } = resources.use(await createDatabase());
  const options = { applicationName: 'test', connectionsMax: 3, statementTimeoutMs: 30_000 };
  database = openDatabase(resources.use(openPostgres(url, options)));
});
afterAll(() => resources.disposeAsync());

interface Sent {
  type: 'llm' | 'tool';
  name: string;
  source: string;
  agentId: string | undefined;
  isError: boolean;
  startTimeMs: number;
  durationMs: number;
  input: number;
  cached: number;
  reasoning: number;
}

// Around the end of summer time in Europe, also at half hours.
const dayMs = 24 * 3_600_000;
const firstMs = Date.UTC(2026, 9, 23, 22, 17);

const anySent: fc.Arbitrary<Sent> = fc.record({
  type: fc.constantFrom('llm', 'tool'),
  name: fc.constantFrom('m', 'n', 'o'),
  source: fc.constantFrom('s', 't'),
  agentId: fc.constantFrom('a', 'b', undefined),
  isError: fc.boolean(),
  startTimeMs: fc.integer({ min: firstMs, max: firstMs + 4 * dayMs }),
  durationMs: fc.oneof(fc.constantFrom(0, -3, 0.001), fc.double({ min: 0.1, max: 1e6, noNaN: true })),
  input: fc.integer({ min: 0, max: 1e6 }),
  cached: fc.integer({ min: 0, max: 1e5 }),
  reasoning: fc.integer({ min: 0, max: 1e5 }),
});

function toEvent(sent: Sent): object {
  const changes = {
    startTimeMs: sent.startTimeMs,
    endTimeMs: sent.startTimeMs,
    durationMs: sent.durationMs,
    status: { state: sent.isError ? 'error' : 'ok' },
    instrumentation: { vendor: 'weir', source: sent.source, sourcePackage: 'p' },
    context: sent.agentId === undefined ? {} : { agentId: sent.agentId },
  };
  if (sent.type === 'tool') return toolEvent({ ...changes, properties: { tool: { name: sent.name } } });
  const usage = {
    inputTokens: sent.input,
    outputTokens: sent.reasoning + 1,
    inputTokenDetails: { cacheReadTokens: sent.cached, cacheWriteTokens: 2 },
    outputTokenDetails: { reasoningTokens: sent.reasoning },
  };
  return llmEvent({ ...changes, properties: { llm: { model: sent.name, usage } } });
}

/** Stores events with statements of a few requests each. */
async function store(sent: readonly Sent[]): Promise<string> {
  const spaceId = randomUUID();
  for (let from = 0; from < sent.length; from += 100) {
    const some = sent.slice(from, from + 100).map(toEvent);
    const requests = [some.slice(0, 60), some.slice(60)].filter((request) => request.length > 0);
    await insertParts(
      database,
      requests.map((request) => partOf(spaceId, request)),
    );
    // Charts read what is folded together with what is not.
    if (from === 500) await foldStatistics(database);
  }
  return spaceId;
}

const groupOf = {
  none: () => '',
  type: ({ type }) => type,
  model: ({ type, name }) => (type === 'llm' ? name : undefined),
  tool: ({ type, name }) => (type === 'tool' ? name : undefined),
  source: ({ source }) => source,
  agent: ({ agentId }) => agentId,
} satisfies Partial<Record<ChartQuery['groupBy'], (sent: Sent) => string | undefined>>;

/** The expected chart of these events, without percentiles. */
function measure(sent: readonly Sent[]) {
  const llm = sent.filter(({ type }) => type === 'llm');
  const sum = (pick: (one: Sent) => number) => llm.reduce((total, one) => total + pick(one), 0);
  return {
    events: sent.length,
    errors: sent.filter(({ isError }) => isError).length,
    // More cached tokens than input stand beside it.
    inputTokens: sum(({ input, cached }) => (cached + 2 > input ? input + cached + 2 : input)),
    outputTokens: sum(({ reasoning }) => reasoning + 1),
    cacheReadTokens: sum(({ cached }) => cached),
    cacheWriteTokens: sum(() => 2),
    reasoningTokens: sum(({ reasoning }) => reasoning),
  };
}

/** The exact percentile by the definition of the sketch. */
function exactPercentile(sent: readonly Sent[], quantile: number): number {
  const sorted = sent.map(({ durationMs }) => durationMs).toSorted((a, b) => a - b);
  return Math.max(0, sorted[Math.max(0, Math.ceil(quantile * sorted.length) - 1)] ?? 0);
}

const anyQuery = fc.record({
  groupBy: fc.constantFrom<keyof typeof groupOf>('none', 'type', 'model', 'tool', 'source', 'agent'),
  step: fc.constantFrom('hour' as const, 'day' as const),
  timeZone: fc.constantFrom('UTC', 'Europe/Zurich', 'Asia/Kolkata', 'Asia/Kathmandu', 'America/New_York'),
  fromMs: fc.integer({ min: firstMs - dayMs, max: firstMs + 3 * dayMs }),
  lengthMs: fc.integer({ min: 1, max: 5 * dayMs }),
  groupsMax: fc.integer({ min: 1, max: 3 }),
  source: fc.constantFrom('s', undefined),
});

test('a chart equals the sums of its events, in any time zone, with percentiles within 5%', async () => {
  const sent = fc.sample(anySent, { numRuns: 1_500, seed: 7 });
  const spaceId = await store(sent);
  await store(sent.slice(0, 200));
  await fc.assert(
    fc.asyncProperty(anyQuery, async ({ fromMs, lengthMs, source, groupsMax, groupBy, step, timeZone }) => {
      const range = { from: fromMs, to: fromMs + lengthMs, step, timeZone };
      const filter = groupBy === 'agent' ? {} : { source };
      const chart = await readChart({ database, spaceId }, { ...range, groupBy, groupsMax, filter });
      const boundaries = [...chart.starts, chart.end];
      expect(boundaries).toEqual(timeBoundaries(range));
      const counted = sent.filter(
        (one) =>
          groupOf[groupBy](one) !== undefined &&
          (filter.source === undefined || one.source === filter.source) &&
          one.startTimeMs >= (boundaries[0] ?? 0) &&
          one.startTimeMs < chart.end,
      );
      const sizes = [...Map.groupBy(counted, groupOf[groupBy])]
        .map(([group, own]) => ({ group: String(group), size: own.length }))
        .toSorted((a, b) => b.size - a.size || (a.group < b.group ? -1 : 1));
      const shown = sizes.slice(0, groupsMax).map(({ group }) => group);
      const series = sizes.length > groupsMax ? [...shown, null] : shown;
      expect(chart.series.map(({ group }) => group)).toEqual(series);
      for (const { group, total, points } of chart.series) {
        const own = counted.filter((one) => {
          const name = groupOf[groupBy](one) ?? '';
          return group === null ? !shown.includes(name) : name === group;
        });
        expectMeasures(total, own);
        const perBucket = Map.groupBy(own, ({ startTimeMs }) =>
          boundaries.findLastIndex((start) => start <= startTimeMs),
        );
        expect(points.map(({ bucket }) => bucket)).toEqual([...perBucket.keys()].toSorted((a, b) => a - b));
        for (const point of points) expectMeasures(point, perBucket.get(point.bucket) ?? []);
      }
    }),
    { numRuns: 25 },
  );
});

function expectMeasures(
  measures: { p50Ms: number | null; p95Ms: number | null; p99Ms: number | null },
  sent: readonly Sent[],
): void {
  expect(measures).toMatchObject(measure(sent));
  for (const [name, quantile] of [
    ['p50Ms', 0.5],
    ['p95Ms', 0.95],
    ['p99Ms', 0.99],
  ] as const) {
    const exact = exactPercentile(sent, quantile);
    const shown = measures[name] ?? Number.NaN;
    expect(Math.abs(shown - exact)).toBeLessThanOrEqual(exact * 0.05 + 0.001 + 1e-9);
  }
}

const values = {
  type: fc.constantFrom('llm' as const, 'tool' as const),
  state: fc.constantFrom('ok' as const, 'error' as const),
  name: fc.constantFrom('m', 'absent'),
  source: fc.constant('s'),
  agentId: fc.constant('a'),
  minDurationMs: fc.constant(10),
  not: fc.constant([{ column: 'name' as const, value: 'm' }]),
};
/** Up to two elements. */
const anyFilter = fc
  .tuple(fc.record(values), fc.subarray(Object.keys(values) as (keyof typeof values)[], { maxLength: 2 }))
  .map(([all, names]): EventFilter => Object.fromEntries(names.map((name) => [name, all[name]])));

test('a histogram counts the same events as the list, from statistics or one by one', async () => {
  const sent = fc.sample(anySent, { numRuns: 600, seed: 8 });
  const spaceId = await store(sent);
  const columns = { id: events.id, startTimeMs: events.startTimeMs, state: events.state };
  const methods = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      anyFilter,
      fc.integer({ min: firstMs - dayMs, max: firstMs + 3 * dayMs }),
      fc.integer({ min: 1, max: 5 * dayMs }),
      fc.integer({ min: 2, max: 120 }),
      async (filterValues, from, lengthMs, bucketsMax) => {
        const filter: EventFilter & { from: number; to: number } = {
          ...filterValues,
          from,
          to: from + lengthMs,
        };
        const { bucketMs, buckets, method } = await readHistogram(
          { database, spaceId },
          { filter, bucketsMax },
        );
        methods.add(method);
        expect(buckets.length).toBeLessThanOrEqual(bucketsMax);
        const [start = 0, end = 0] = [buckets[0]?.startMs, (buckets.at(-1)?.startMs ?? 0) + bucketMs];
        expect([start <= from, end >= from + lengthMs]).toEqual([true, true]);
        const { rows } = await readEventPage(database, spaceId, {
          columns,
          filter: { ...filter, from: start, to: end },
          after: undefined,
          limit: 1_000,
        });
        const listed = Map.groupBy(
          rows,
          (row) => start + Math.floor((row.startTimeMs - start) / bucketMs) * bucketMs,
        );
        for (const bucket of buckets) {
          const own = listed.get(bucket.startMs) ?? [];
          const failed = own.filter(({ state }) => state === 'error').length;
          expect(bucket).toMatchObject({ events: own.length, errors: failed, isEstimate: false });
        }
      },
    ),
    { numRuns: 40 },
  );
  expect([...methods].sort()).toEqual(['events', 'statistics']);
});

test('a histogram counts what is stored after an erasure, and after events have expired', async () => {
  const sent = fc.sample(anySent, { numRuns: 300, seed: 10 }).map((one) => ({ ...one, isError: true }));
  const filter = { from: firstMs, to: firstMs + 5 * dayMs };
  const count = async (spaceId: string, ofType: Pick<EventFilter, 'name'> = {}) => {
    const query = { filter: { ...filter, ...ofType }, bucketsMax: 60 };
    const { buckets, method } = await readHistogram({ database, spaceId }, query);
    const [all, failed] = [buckets.map(({ events }) => events), buckets.map(({ errors }) => errors)];
    expect(failed).toEqual(all);
    return { method, events: all.reduce((sum, events) => sum + events, 0) };
  };
  const remaining = (isLeft: (one: Sent) => boolean) => sent.filter(isLeft).length;
  const erased = await store(sent);
  expect(await count(erased)).toEqual({ method: 'statistics', events: 300 });
  await database.delete(events).where(and(eq(events.spaceId, erased), eq(events.name, 'm')));
  const row = { spaceId: erased, subject: 'user' as const, startedAt: new Date(), unwritten: [] };
  await database.insert(erasures).values(row);
  expect(await count(erased)).toEqual({ method: 'events', events: remaining(({ name }) => name !== 'm') });
  expect(await count(erased, { name: 'n' })).toMatchObject({
    events: remaining(({ name }) => name === 'n'),
  });
  const expired = await store(sent);
  const cutoff = firstMs + 2 * dayMs;
  await database.delete(events).where(and(eq(events.spaceId, expired), lt(events.startTimeMs, cutoff)));
  expect(await count(expired)).toMatchObject({
    events: remaining(({ startTimeMs }) => startTimeMs >= cutoff),
  });
});

test('without `from`, a histogram begins with the first events of the space', async () => {
  const sent = fc.sample(anySent, { numRuns: 50, seed: 9 });
  const spaceId = await store(sent);
  const times = sent.map(({ startTimeMs }) => startTimeMs);
  const to = Math.max(...times) + 1;
  const { buckets, bucketMs } = await readHistogram(
    { database, spaceId },
    { filter: { to }, bucketsMax: 60 },
  );
  expect(buckets.reduce((sum, { events }) => sum + events, 0)).toBe(sent.length);
  const first = Math.min(...times);
  expect((buckets[0]?.startMs ?? 0) + Math.max(bucketMs, 3_600_000)).toBeGreaterThan(first);
  // A space without events has an empty day.
  const none = await readHistogram({ database, spaceId: randomUUID() }, { filter: { to }, bucketsMax: 60 });
  expect(none.buckets.reduce((sum, { events }) => sum + events, 0)).toBe(0);
  expect(to - (none.buckets[0]?.startMs ?? 0)).toBeLessThan(2 * dayMs);
});

test('with too many events to count, a histogram estimates and marks estimated buckets', async () => {
  const [base] = fc.sample(anySent, 1);
  if (base === undefined) throw new Error('no sample');
  // 200 events a minute over 40 minutes, a quarter of them slow; then a quiet minute.
  const sent = Array.from({ length: 8_000 }, (_, i): Sent => {
    return {
      ...base,
      startTimeMs: firstMs + i * 300,
      durationMs: i % 4 === 0 ? 900 : 1,
      isError: i % 8 === 0,
    };
  });
  const quiet = firstMs - 5 * 60_000;
  const spaceId = await store([{ ...base, startTimeMs: quiet, durationMs: 900, isError: true }, ...sent]);
  const filter = { minDurationMs: 500, from: quiet, to: firstMs + 40 * 60_000 };
  const { buckets, method } = await readHistogram({ database, spaceId }, { filter, bucketsMax: 60 });
  // 2,001 events match, few enough to be counted.
  expect(method).toBe('events');
  expect(buckets.reduce((sum, { events }) => sum + events, 0)).toBe(2_001);
  const all = await readHistogram(
    { database, spaceId },
    {
      filter: { ...filter, minDurationMs: 0.5 },
      bucketsMax: 60,
    },
  );
  expect(all.method).toBe('estimate');
  for (const { startMs, events, errors, isEstimate } of all.buckets) {
    const own = sent.filter((one) => one.startTimeMs >= startMs && one.startTimeMs < startMs + 60_000);
    if (startMs <= quiet)
      expect({ events, isEstimate }).toEqual({ events: startMs === quiet ? 1 : 0, isEstimate: false });
    else if (isEstimate) {
      expect(events).toBe(own.length);
      expect(errors / events).toBeCloseTo(1 / 8, 1);
    } else expect(events).toBe(own.length);
  }
  expect(all.buckets.some(({ isEstimate }) => isEstimate)).toBe(true);
});
