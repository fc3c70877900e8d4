import { randomUUID, randomUUIDv7 } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';
import { create } from '@bufbuild/protobuf';
import { and, eq, sql } from 'drizzle-orm';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { IngestEvent } from '../../event/event.ts';
import { columnCharsMax } from '../../event/limits.ts';
import { projectEvents } from '../../event/projection.ts';
import { anyTerm, inSpace, type TermSource } from '../../event/terms.ts';
import { PartSchema } from '../../gen/weir/queue/v1/queue_pb.ts';
import { anyFilter, anyValues, toEvent, type Values } from '../../harness/fixtures/generated-events.ts';
import type { Part } from '../../platform/queue/group.ts';
import { createDatabase } from '../../test/support/test-servers.ts';
import { openPostgres } from '../db/connect.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { events, segments } from '../db/schema.ts';
import { storeParts } from '../write/store.ts';
import type { Comparison, CostRate } from './compare/comparisons.ts';
import type { EventCursor } from './event-cursor.ts';
import type { EventFilter } from './event-filter.ts';
import { findNeighbours } from './event-neighbours.ts';
import { readEventPage } from './event-page.ts';
import { compareEvents } from './event-position.ts';
import { type ListLimits, listLimits } from './limits.ts';

const resources = new AsyncDisposableStack();
let database: Database;
beforeAll(async () => {
  const { url } = resources.use(await createDatabase());
  const options = { applicationName: 'test', connectionsMax: 2, statementTimeoutMs: 30_000 };
  database = openDatabase(resources.use(openPostgres(url, options)));
});
afterAll(() => resources.disposeAsync());

const columns = { id: events.id, startTimeMs: events.startTimeMs };

/**
 * Limits small enough for a few events. Generated runs reach each of them in some cases and not in others.
 */
const anyLimits: fc.Arbitrary<ListLimits> = fc.record({
  firstWalkEvents: fc.integer({ min: 1, max: 6 }),
  walkedEvents: fc.integer({ min: 7, max: 30 }),
  firstWalkSegments: fc.integer({ min: 1, max: 4 }),
  walkedSegments: fc.integer({ min: 5, max: 8 }),
  walkedSegmentEvents: fc.integer({ min: 1, max: 20 }),
  segmentEvents: fc.integer({ min: 1, max: 40 }),
  firstReadEvents: fc.integer({ min: 1, max: 10 }),
  eventsPerRead: fc.integer({ min: 1, max: 30 }),
  segmentsAtOnce: fc.integer({ min: 0, max: 12 }),
  segmentsListed: fc.integer({ min: 1, max: 10 }),
  enoughRows: fc.constantFrom(1, 3, Number.POSITIVE_INFINITY),
});

/** Marks segments, in a column that these tests do not use otherwise. */
const equalHashes = 77;

/** How the segment of a request got its terms. */
type Origin = 'ingest' | 'writer' | 'equal hashes' | 'too many terms';
const anyOrigin = fc.constantFrom<Origin>('ingest', 'ingest', 'writer', 'equal hashes', 'too many terms');

/** Gives the marked segments all terms of the space, as if their hashes collided. */
async function makeHashesEqual(spaceId: string): Promise<void> {
  const all = database
    .select({ terms: sql`array_agg(term)` })
    .from(sql`${segments}, unnest(${segments.terms}) AS term`)
    .where(eq(segments.spaceId, spaceId));
  await database
    .update(segments)
    .set({ terms: sql`(${all})` })
    .where(and(eq(segments.spaceId, spaceId), eq(segments.rawBytes, equalHashes)));
}

interface Request {
  events: readonly IngestEvent[];
  origin: Origin;
}

/** Stores requests in one statement, one segment each. */
async function store(spaceId: string, requests: readonly Request[]): Promise<void> {
  await storeParts(
    database,
    requests.map((request) => toPart(spaceId, request)),
  );
}

function toPart(spaceId: string, { events, origin }: Request): Part {
  const { eventCount, columns, terms } = projectEvents(events);
  return create(PartSchema, {
    spaceId,
    apiKeyId: randomUUID(),
    receivedAtMs: 1_760_000_000_000n,
    segmentId: randomUUIDv7(),
    eventCount,
    columns,
    rawBytes: BigInt(origin === 'equal hashes' ? equalHashes : 1),
    body: zstdCompressSync(Buffer.from('x')),
    terms:
      origin === 'writer' ? '' : inSpace(spaceId, origin === 'too many terms' ? [anyTerm] : terms).join(','),
  });
}

/** Reads all pages of the list, following `next`. */
async function walkPages(spaceId: string, filter: EventFilter, limit: number, limits: ListLimits) {
  const ids: string[] = [];
  let after: EventCursor | undefined;
  do {
    const page = await readEventPage(database, spaceId, { columns, filter, after, limit, limits });
    expect(page.rows.length).toBeLessThanOrEqual(limit);
    if (page.isComplete && page.next !== undefined) expect(page.rows).toHaveLength(limit);
    ids.push(...page.rows.map(({ id }) => id));
    after = page.next;
  } while (after !== undefined);
  return ids;
}

function matches(values: Values, filter: EventFilter): boolean {
  const {
    attributes = [],
    from,
    to,
    minDurationMs,
    maxDurationMs,
    text,
    traceId,
    not = [],
    comparisons = [],
    costRates = [],
    notes: _notes,
    noted: _noted,
    ...others
  } = filter;
  const inRange =
    values.startTimeMs >= (from ?? -Infinity) &&
    values.startTimeMs < (to ?? Infinity) &&
    values.durationMs >= (minDurationMs ?? -Infinity) &&
    values.durationMs <= (maxDurationMs ?? Infinity);
  const own = Object.entries(values.attributes).map(
    ([key, value]) => `${normal(key)}=${normal(String(value))}`,
  );
  return (
    inRange &&
    (traceId === undefined || values.traceId?.toLowerCase() === traceId.toLowerCase()) &&
    (text === undefined || (values.prompt?.toLowerCase().includes(text.toLowerCase()) ?? false)) &&
    attributes.every(({ key, value }) => own.includes(`${normal(key)}=${normal(value)}`)) &&
    !not.some((source) => hasValue(values, own, source)) &&
    comparisons.every((comparison) => isMet(values, comparison, costRates)) &&
    Object.entries(others).every(([name, value]) => {
      const stored = values[name as keyof typeof others];
      return value === undefined || (stored !== undefined && normal(stored) === normal(value));
    })
  );
}

function isMet(
  values: Values,
  { measure, operator, value }: Comparison,
  rates: readonly CostRate[],
): boolean {
  const numbers = { duration: values.durationMs, tokens: tokensOf(values), cost: costOf(values, rates) };
  const number = numbers[measure];
  if (number === undefined) return false;
  if (operator.startsWith('>') ? number > value : number < value) return true;
  return operator.endsWith('=') && number === value;
}

function tokensOf({ type, usage }: Values): number | undefined {
  if (type === 'tool' || usage === undefined) return undefined;
  const { inputTokens, outputTokens, totalTokens } = usage;
  if (inputTokens === undefined && outputTokens === undefined) return totalTokens;
  return (inputTokens ?? 0) + (outputTokens ?? 0);
}

/** In dollars. */
function costOf({ type, usage, name, startTimeMs }: Values, rates: readonly CostRate[]): number | undefined {
  const { inputTokens, outputTokens, inputTokenDetails } = usage ?? {};
  const rate = rates.find((one) => one.model === name && one.fromMs <= startTimeMs && startTimeMs < one.toMs);
  if (type === 'tool' || rate === undefined || (inputTokens ?? outputTokens) === undefined) return undefined;
  let left = Math.max(0, inputTokens ?? 0);
  const take = (tokens = 0) => {
    const taken = Math.min(left, Math.max(0, tokens));
    left -= taken;
    return taken;
  };
  const cacheRead = take(inputTokenDetails?.cacheReadTokens);
  const cacheWrite = take(inputTokenDetails?.cacheWriteTokens);
  const price = (name: 'input' | 'cacheRead' | 'cacheWrite' | 'output') => Number(rate[name]) / 1e6;
  const cached = cacheRead * price('cacheRead') + cacheWrite * price('cacheWrite');
  // Rounded, since the parts are added in another order than by Weir.
  return Number(
    ((left * price('input') + cached + Math.max(0, outputTokens ?? 0) * price('output')) / 1e6).toFixed(12),
  );
}

function hasValue(values: Values, attributes: readonly string[], source: TermSource): boolean {
  if ('attribute' in source)
    return attributes.includes(`${normal(source.attribute)}=${normal(source.value)}`);
  const stored = values[source.column];
  if (stored === undefined) return false;
  return source.column === 'traceId'
    ? stored.toLowerCase() === source.value.toLowerCase()
    : normal(stored) === normal(source.value);
}

/** Normalizes a text as columns do. */
function normal(text: string): string {
  return text.slice(0, columnCharsMax).toWellFormed().replaceAll('\0', '\uFFFD');
}

/** Stores the same requests in two spaces and compares the list of every filter with the model. */
async function checkLists(
  requests: readonly { values: readonly Values[]; origin: Origin }[],
  filters: readonly EventFilter[],
  { limit, limits }: { limit: number; limits: ListLimits },
): Promise<void> {
  const [spaceId, otherSpaceId] = [randomUUID(), randomUUID()];
  const stored = requests.flatMap(({ values, origin }) => {
    const request = values.map((own) => ({ id: randomUUID(), values: own }));
    return request.map((event) => ({ ...event, request, origin }));
  });
  const toStore = [...Map.groupBy(stored, (event) => event.request)].map(([request, [first]]) => ({
    events: request.map(({ id, values }) => toEvent(id, values)),
    origin: first?.origin ?? 'ingest',
  }));
  await store(spaceId, toStore);
  await store(
    otherSpaceId,
    toStore.map(({ events }) => ({
      events: events.map((event) => ({ ...event, id: randomUUID() })),
      origin: 'ingest',
    })),
  );
  await makeHashesEqual(spaceId);
  for (const filter of filters) {
    const expected = stored
      .filter(({ values }) => matches(values, filter))
      .map(({ id, values }) => ({ id, startTimeMs: values.startTimeMs }))
      .sort(compareEvents);
    expect(await walkPages(spaceId, filter, limit, limits)).toEqual(expected.map(({ id }) => id));
    for (const { id, values } of stored.slice(0, 2)) {
      await checkNeighbours(spaceId, filter, {
        at: { id, startTimeMs: values.startTimeMs },
        expected,
        limits,
      });
    }
  }
}

/**
 * The neighbours of a position are the adjacent events of the list, or the search reports that it is
 * uncertain.
 */
async function checkNeighbours(
  spaceId: string,
  filter: EventFilter,
  { at, expected, limits }: { at: EventCursor; expected: readonly EventCursor[]; limits: ListLimits },
): Promise<void> {
  const found = await findNeighbours(database, spaceId, { columns, filter, at, limits });
  const wanted = {
    newer: expected.findLast((one) => compareEvents(one, at) < 0),
    older: expected.find((one) => compareEvents(one, at) > 0),
  };
  for (const side of ['newer', 'older'] as const) {
    const { row, isCertain } = found[side];
    expect(row?.id).toBe(isCertain ? wanted[side]?.id : undefined);
  }
  // With the default limits, everything is examined.
  const all = await findNeighbours(database, spaceId, { columns, filter, at });
  expect({ newer: all.newer, older: all.older }).toMatchObject({
    newer: { row: wanted.newer, isCertain: true },
    older: { row: wanted.older, isCertain: true },
  });
}

const anyRequests = fc.array(
  fc.record({ values: fc.array(anyValues, { minLength: 1, maxLength: 6 }), origin: anyOrigin }),
  { minLength: 5, maxLength: 16 },
);
const singles = fc.array(
  fc.record({ values: anyValues.map((values) => [values]), origin: fc.constant<Origin>('ingest') }),
  { minLength: 10, maxLength: 40 },
);
const anyFilters = fc.array(anyFilter, { minLength: 1, maxLength: 6 });
const anyPage = fc.record({ limit: fc.integer({ min: 1, max: 12 }), limits: anyLimits });

test('the pages of a list show each matching event of the space exactly once, in order', async () => {
  await fc.assert(fc.asyncProperty(fc.oneof(anyRequests, singles), anyFilters, anyPage, checkLists), {
    numRuns: 40,
    endOnFailure: true,
  });
});

test('a rare value is found behind more events than a page may examine, and the page is complete', async () => {
  const spaceId = randomUUID();
  const common = fc.sample(anyValues, 1)[0];
  if (common === undefined) throw new Error('no sample');
  const events = (count: number, startTimeMs: number, userId: string) =>
    Array.from({ length: count }, () =>
      toEvent(randomUUID(), { ...common, startTimeMs, userId, durationMs: 1 }),
    );
  const older = events(3, 1, 'old');
  const newer = Array.from({ length: 50 }, (_, request) => events(5, 100 + request, 'new'));
  await store(
    spaceId,
    [older, ...newer].map((request) => ({ events: request, origin: 'ingest' })),
  );
  const limits = { ...listLimits, firstWalkEvents: 20, walkedEvents: 40 };
  const list = (filter: EventFilter) =>
    readEventPage(database, spaceId, { columns, filter, after: undefined, limit: 10, limits });
  expect(await list({ userId: 'old' })).toMatchObject({
    rows: { length: 3 },
    next: undefined,
    isComplete: true,
  });
  expect(await list({ userId: 'absent' })).toEqual({ rows: [], next: undefined, isComplete: true });
  // Durations are not indexed as terms, so the page is incomplete and returns its position.
  expect(await list({ minDurationMs: 2 })).toMatchObject({
    rows: [],
    next: { startTimeMs: 142 },
    isComplete: false,
  });
});
