import { asc, eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toProtobufLogs } from '../../harness/fixtures/logs.ts';
import { createRandom, type Random } from '../../harness/random.ts';
import { createSpace } from '../../store/accounts/spaces.ts';
import { readUsage } from '../../store/accounts/usage.ts';
import { openPostgres } from '../../store/db/connect.ts';
import { type Database, openDatabase } from '../../store/db/database.ts';
import {
  agentStats,
  agentStatsRollups,
  eventStats,
  eventStatsRollups,
  events,
  segments,
} from '../../store/db/schema.ts';
import { readEventTexts } from '../../store/segments/read.ts';
import { TraceResolver } from '../../store/traces/trace-resolver.ts';
import { foldStatistics } from '../../store/write/statistics/deltas.ts';
import type { ObservedTrace } from '../support/otlp/observed-trace.ts';
import { findMismatches } from '../support/otlp/stored-traces.ts';
import { type Message, messagesOf, toRequest } from '../support/otlp/trace-messages.ts';
import { observeTrace, traceKinds } from '../support/otlp/trace-observation.ts';
import { createDatabase } from '../support/test-servers.ts';

/** What a trace looks like is a function of what is stored: in whichever requests and messages it came, and in whichever order. */

const resources = new AsyncDisposableStack();
let database: Database;
beforeAll(async () => {
  const { url } = resources.use(await createDatabase());
  const options = { applicationName: 'test', connectionsMax: 6, statementTimeoutMs: 60_000 };
  database = openDatabase(resources.use(openPostgres(url, options)));
});
afterAll(() => resources.disposeAsync());

/** The content of a call in a log record, as official instrumentations of OpenTelemetry send it. */
function logOf({ spans: [observed], prompt }: ObservedTrace['events'][number]): Buffer {
  const { traceId = '', spanId = '' } = observed?.span ?? {};
  const body = JSON.stringify({ role: 'user', content: prompt ?? 'How warm?' });
  return toProtobufLogs([{ traceId, spanId, eventName: 'gen_ai.user.message', body }]);
}

function shuffle<T>(random: Random, list: readonly T[]): T[] {
  const keyed = list.map((item) => ({ item, key: random.between(0, 1_000_000) }));
  return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
}

/** Cuts a list into random pieces. */
function cut<T>(random: Random, list: readonly T[]): T[][] {
  const pieces: T[][] = [];
  for (let from = 0; from < list.length; ) {
    const to = from + random.between(1, 4);
    pieces.push(list.slice(from, to));
    from = to;
  }
  return pieces;
}

/** Delivers messages by several writers in random order, a third of them twice, while a resolver runs and is ended at times. */
async function deliverAll(random: Random, spaceId: string, messages: readonly Message[]): Promise<void> {
  const waiting = shuffle(random, [...messages, ...messages.filter(() => random.between(0, 2) === 0)]);
  let isDone = false;
  const resolving = async () => {
    while (!isDone) await new TraceResolver(database).run(AbortSignal.timeout(random.between(1, 30)));
  };
  const storing = Array.from({ length: 3 }, async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await next(database, spaceId);
  });
  const resolver = resolving();
  await Promise.all(storing);
  isDone = true;
  await resolver;
  await new TraceResolver(database).run();
}

const newSpace = async () => (await createSpace(database, 'test')).id;

/** The counts of a latency sketch by bucket. What was added and subtracted again leaves an element of zero. */
function countBuckets(latency: readonly bigint[]): string[] {
  const counts = Map.groupBy(latency, (element) => BigInt(element) >> 40n);
  return Array.from(counts, ([bucket, own]) => {
    const count = own.reduce((sum, element) => sum + Number(BigInt.asIntN(40, BigInt(element))), 0);
    return count === 0 ? [] : `${bucket}: ${count}`;
  })
    .flat()
    .sort();
}

/** Everything that is stored of a space, without what depends on places and times of receipt. */
async function readStored(spaceId: string) {
  await foldStatistics(database);
  const rows = await database
    .select()
    .from(events)
    .where(eq(events.spaceId, spaceId))
    .orderBy(asc(events.id));
  const texts = await readEventTexts(database, spaceId, rows);
  const held = await database.select().from(segments).where(eq(segments.spaceId, spaceId));
  const statistics = await Promise.all(
    [eventStats, eventStatsRollups, agentStats, agentStatsRollups].map(async (table) => {
      const counted = await database.select().from(table).where(eq(table.spaceId, spaceId));
      // An empty sum stays as a row.
      return counted
        .filter((row) => row.events !== 0)
        .map(({ spaceId: _, latency, ...row }) => JSON.stringify({ ...row, latency: countBuckets(latency) }))
        .sort();
    }),
  );
  return {
    events: rows.map(({ spaceId: _, segmentId, segmentIndex, receivedAt, attributes, ...row }, place) => {
      const { properties, status, durationMs } = JSON.parse(texts[place] ?? '');
      const { otel: _otel, ...llm } = properties.llm ?? {};
      const merged = String(attributes?.['otel.merged_span_ids'] ?? '')
        .split(',')
        .sort();
      return { ...row, merged, status, duration: durationMs, llm };
    }),
    usage: (await readUsage(database, spaceId))?.events,
    held: held.reduce((sum, { eventCount }) => sum + eventCount, 0),
    statistics,
  };
}

/** Those whose spans belong together in one way only: of several equal ones, the order decides which. */
const definiteKinds: readonly string[] = traceKinds.filter(
  (kind) => kind !== 'equalTwice' && kind !== 'traces',
);

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'traces in random requests, whose events and spans come in any order, are as sent at once: %s',
  async (seed) => {
    const random = createRandom(seed);
    const observed = traceKinds.map((kind, number) => observeTrace(random, kind, number));
    const [whole, pieces] = [await newSpace(), await newSpace()];
    const requests = observed.flatMap(({ spans }) => cut(random, shuffle(random, spans)).map(toRequest));
    const logged = observed.flatMap(({ events: [first] }) => (first?.type === 'llm' ? first : []));
    const logs = logged.map(logOf);
    const logMessages = logs.flatMap((bytes) => messagesOf(bytes, 'otlpLogs'));
    const definite = new Set(
      observed
        .filter((_, at) => definiteKinds.includes(traceKinds[at] ?? 'chain'))
        .flatMap(({ spans }) => spans.map(({ span }) => span.traceId)),
    );
    await deliverAll(random, pieces, [...requests.flatMap((bytes) => messagesOf(bytes)), ...logMessages]);
    for (const message of messagesOf(toRequest(observed.flatMap(({ spans }) => spans))))
      await message(database, whole);
    for (const message of logMessages) await message(database, whole);
    await new TraceResolver(database).run();
    const [a, b] = [await readStored(pieces), await readStored(whole)];
    const isDefinite = ({ traceId }: { traceId: string | null }) =>
      definite.has(traceId?.replaceAll('-', '') ?? '');
    expect(a.events.filter(isDefinite)).toEqual(b.events.filter(isDefinite));
    expect({ ...a, events: a.events.length }).toEqual({ ...b, events: b.events.length });
    // The log of a call is one of its merged spans.
    const expected = observed
      .flatMap((one) => one.events)
      .map((event) => ({
        ...event,
        ...(logged.includes(event) && { merged: undefined, prompt: event.prompt ?? 'How warm?' }),
      }));
    for (const spaceId of [whole, pieces])
      expect(await findMismatches(database, spaceId, expected)).toEqual([]);
  },
);
