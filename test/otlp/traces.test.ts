import { zstdDecompressSync } from 'node:zlib';
import { register } from '@prometheus-io/client';
import { and, eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { llmEvent, toolEvent } from '../../harness/fixtures/events.ts';
import { toProtobufLogs } from '../../harness/fixtures/logs.ts';
import { partOf } from '../../harness/fixtures/part.ts';
import { type SpanInit, toProtobuf } from '../../harness/fixtures/spans.ts';
import { applyControlChanges } from '../../operations/control/apply-changes.ts';
import { eraseEvents } from '../../operations/erasure/erase.ts';
import { connectQueue } from '../../platform/queue/connect.ts';
import { dayMs } from '../../platform/time.ts';
import {
  type ExportedEvent,
  exportEvents,
  exportTexts,
  exportWholeEvents,
  type WholeExportedEvent,
} from '../../services/dashboard-api/events/export-rows.ts';
import { readWholeEvent } from '../../services/dashboard-api/events/whole-event.ts';
import { readTrace } from '../../services/dashboard-api/traces/trace.ts';
import type { SpanBatch } from '../../services/ingest/otlp/batch/span-batch.ts';
import { createSpanReaders } from '../../services/ingest/otlp/batch/span-readers.ts';
import { eventIdOf, traceUuidOf } from '../../services/ingest/otlp/mapping/ids.ts';
import { unlimited } from '../../services/ingest/read/batch-reader.ts';
import { createSpace } from '../../store/accounts/spaces.ts';
import { readUsage } from '../../store/accounts/usage.ts';
import { relayControlChanges } from '../../store/control/relay.ts';
import { ensureControlStream, readControlState } from '../../store/control/stream.ts';
import { openPostgres } from '../../store/db/connect.ts';
import { type Database, openDatabase } from '../../store/db/database.ts';
import {
  agentStats,
  agentStatsRollups,
  eventStats,
  eventStatsRollups,
  events,
  segments,
  traceNodes,
  traces,
} from '../../store/db/schema.ts';
import { readEventPage } from '../../store/read/event-page.ts';
import { expireData } from '../../store/retention/expire.ts';
import type { RetentionClock } from '../../store/retention/retention-clock.ts';
import { OpenBytes } from '../../store/segments/open-segments.ts';
import { readEventTexts } from '../../store/segments/read.ts';
import { withParents } from '../../store/traces/parent-events.ts';
import { storeNodes } from '../../store/traces/store-nodes.ts';
import { TraceResolver } from '../../store/traces/trace-resolver.ts';
import { quarantineEvent } from '../../store/write/quarantine.ts';
import { replayQuarantined } from '../../store/write/replay.ts';
import { foldStatistics } from '../../store/write/statistics/fold.ts';
import { storeParts } from '../../store/write/store.ts';
import { createDatabase, startNats } from '../support/test-servers.ts';

/**
 * Spans of one trace that come in different requests: what ingest makes of each request, and what several
 * writers store of it.
 */

const resources = new AsyncDisposableStack();
let database: Database;
let erasing: Database;
let nats: Awaited<ReturnType<typeof startNats>>;
beforeAll(async () => {
  const { url } = resources.use(await createDatabase());
  const open = (connectionsMax: number) => {
    const options = { applicationName: 'test', connectionsMax, statementTimeoutMs: 60_000 };
    return openDatabase(resources.use(openPostgres(url, options)));
  };
  [database, erasing] = [open(4), open(1)];
  nats = resources.use(await startNats());
});
afterAll(() => resources.disposeAsync());

const newSpace = async () => (await createSpace(database, 'test')).id;
const { otlp, otlpLogs } = createSpanReaders('weir', unlimited);

/** A request as a message of the queue, which a writer stores as often as it is delivered. */
function requestOf(spaceId: string, spans: readonly SpanInit[], library?: string) {
  const scope = library === undefined ? {} : { scope: { name: library } };
  return messageOf(spaceId, otlp(toProtobuf({ ...scope, spans })));
}

function messageOf(spaceId: string, { parts, nodes }: SpanBatch) {
  const sent = parts.map(({ body }) => partOf(spaceId, JSON.parse(body.toString()).events));
  const messages = nodes.map((json) => ({ json, receivedAtMs: BigInt(Date.now()) }));
  return {
    sent,
    messages,
    /** @param isKilled whether the writer ends before it resolves the traces. */
    async deliver(isKilled = false, into = database) {
      await storeParts(into, sent);
      await storeNodes(into, spaceId, { sent: messages });
      if (!isKilled) await resolveAll(into);
    },
  };
}

/** As the background work of a writer. */
const resolveAll = (into = database) => new TraceResolver(into).run();

const traceId = '0af7651916cd43dd8448eb211c80319c';
const idOf = (number: number) => (number + 1).toString(16).padStart(16, '0');

/** A reproducible sequence of numbers below `limit`. */
function randomNumbers(seed: number) {
  let state = seed;
  return (limit: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % limit;
  };
}

function shuffle<T>(random: (limit: number) => number, list: readonly T[]): T[] {
  const shuffled = [...list];
  for (let end = shuffled.length - 1; end > 0; end--) {
    const at = random(end + 1);
    [shuffled[at], shuffled[end]] = [shuffled[end] as T, shuffled[at] as T];
  }
  return shuffled;
}

interface RandomSpan {
  readonly kind: 'agent' | 'chain' | 'plain' | 'llm' | 'tool';
  readonly parent: number | undefined;
  readonly threadId: string | undefined;
  readonly userId: string | undefined;
}

const attributesOf = (kind: RandomSpan['kind'], number: number) =>
  ({
    agent: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': `agent-${number}` },
    chain: { 'openinference.span.kind': 'CHAIN' },
    plain: { 'http.request.method': 'POST' },
    llm: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'gpt-4o',
      'gen_ai.usage.input_tokens': 10 + number,
      'gen_ai.usage.output_tokens': 5,
      'gen_ai.usage.cache_read.input_tokens': 2,
    },
    tool: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'search' },
  })[kind];

/** A tree of spans, also with calls of models below each other. */
function randomTrace(random: (limit: number) => number, count: number): RandomSpan[] {
  const spans: RandomSpan[] = [];
  for (let number = 0; number < count; number++) {
    const parents = spans.keys().filter((at) => spans[at]?.kind !== 'tool' || random(4) === 0);
    const above = [...parents];
    const kinds = ['agent', 'chain', 'plain', 'plain', 'llm', 'llm', 'tool'] as const;
    const kind = number === 0 ? 'plain' : (kinds[random(kinds.length)] ?? 'plain');
    spans.push({
      kind,
      parent: number === 0 ? undefined : above[random(above.length)],
      threadId: random(6) === 0 ? `thread-${number}` : undefined,
      userId: random(6) === 0 ? `user-${number}` : undefined,
    });
  }
  return spans;
}

function toSpan({ kind, parent, threadId, userId }: RandomSpan, number: number): SpanInit {
  return {
    traceId,
    spanId: idOf(number),
    ...(parent !== undefined && { parentSpanId: idOf(parent) }),
    attributes: {
      ...attributesOf(kind, number),
      ...(threadId !== undefined && { 'session.id': threadId }),
      ...(userId !== undefined && { 'user.id': userId }),
    },
  };
}

/** A tool, or an LLM span without one below. */
function isCall(spans: readonly RandomSpan[], number: number): boolean {
  const { kind } = spans[number] ?? {};
  if (kind !== 'llm') return kind === 'tool';
  return !spans.some((other, at) => other.kind === 'llm' && at !== number && isBelow(spans, at, number));
}

function isBelow(spans: readonly RandomSpan[], number: number, top: number): boolean {
  let at: number | undefined = number;
  while (at !== undefined && at !== top) at = spans[at]?.parent;
  return at === top;
}

/** What the nearest span above names, the span included. */
function expectedOf(spans: readonly RandomSpan[], number: number) {
  const path: number[] = [];
  for (let at: number | undefined = number; at !== undefined; at = spans[at]?.parent) path.push(at);
  const first = (find: (at: number) => string | undefined) =>
    path.map(find).find((value) => value !== undefined) ?? null;
  return {
    agentId: first((at) => (spans[at]?.kind === 'agent' ? `agent-${at}` : undefined)),
    threadId: first((at) => spans[at]?.threadId),
    userId: first((at) => spans[at]?.userId),
  };
}

const contextColumns = { agentId: events.agentId, threadId: events.threadId, userId: events.userId };

test.each([1, 2, 3, 4, 5])(
  'spans in requests of their own, in any order, some twice, by writers that are killed: trace %s',
  async (seed) => {
    const random = randomNumbers(seed);
    const spaceId = await newSpace();
    const spans = randomTrace(random, 40);
    const requests = spans.map((span, number) => requestOf(spaceId, [toSpan(span, number)]));
    const twice = requests.filter(() => random(3) === 0);
    await deliverAll(random, [...requests, ...twice]);
    const calls = spans.keys().filter((at) => isCall(spans, at));
    const expected = [...calls].map((at) => ({
      id: eventIdOf(traceId, idOf(at)),
      ...expectedOf(spans, at),
    }));
    const stored = await database
      .select({ id: events.id, ...contextColumns })
      .from(events)
      .where(eq(events.spaceId, spaceId));
    const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
    expect(stored.sort(byId)).toEqual(expected.sort(byId));
    expect((await readUsage(database, spaceId))?.events).toBe(expected.length);
    await expectFound(spaceId, expected);
    await expectStatistics(spaceId);
    await expectTree(spaceId, spans);
  },
);

/** Four writers in any order; some are killed, and what they had is delivered again. */
async function deliverAll(
  random: (limit: number) => number,
  requests: readonly ReturnType<typeof requestOf>[],
): Promise<void> {
  const order = shuffle(random, requests);
  const killed: typeof order = [];
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      for (let next = order.pop(); next !== undefined; next = order.pop()) {
        const isKilled = random(4) === 0;
        if (isKilled) killed.push(next);
        await next.deliver(isKilled);
      }
    }),
  );
  for (const request of killed) await request.deliver();
}

/** A space whose texts are read without waiting for others. */
function textsOf(spaceId: string) {
  return { database, spaceId, openingLimiter: <T>(task: () => Promise<T>) => task() };
}

/** The page of the trace shows the tree of the spans, without links. */
async function expectTree(spaceId: string, spans: readonly RandomSpan[]) {
  const trace = await readTrace(textsOf(spaceId), traceUuidOf(traceId));
  const { id, traceId: ofTrace, attributes } = events;
  const rows = await database
    .select({ id, traceId: ofTrace, attributes })
    .from(events)
    .where(eq(events.spaceId, spaceId));
  const isNode = (at: number) => spans[at]?.kind === 'agent' || spans[at]?.kind === 'chain';
  /** The event that a span is, or is part of. */
  const eventOf = (at: number) =>
    rows.find((row) =>
      [row.attributes?.['otel.span_id'], ...mergedIdsOf(row)].some((spanId) => spanId === idOf(at)),
    )?.id;
  /** The nearest event above, or also the nearest span that the page shows. */
  const above = (number: number, find: (at: number) => string | undefined) => {
    let at = spans[number]?.parent;
    while (at !== undefined && [undefined, eventOf(number)].includes(find(at))) at = spans[at]?.parent;
    return (at === undefined ? undefined : find(at)) ?? null;
  };
  const exported = await withParents(database, spaceId, rows);
  for (const [number] of spans.entries()) {
    const nearest = above(number, (at) => (isNode(at) ? idOf(at) : eventOf(at)));
    if (isNode(number))
      expect(trace?.spans.find(({ id }) => id === idOf(number))).toMatchObject({ above: nearest });
    if (!isCall(spans, number)) continue;
    const parentId = above(number, eventOf);
    const event = trace?.events.find(({ id }) => id === eventIdOf(traceId, idOf(number)));
    expect(event).toMatchObject({ above: nearest, missingParentId: null });
    expect(event?.parent?.id ?? null).toBe(parentId);
    const row = exported.find((one) => one.id === eventIdOf(traceId, idOf(number)));
    expect(row?.attributes?.['otel.parent_event_id'] ?? null).toBe(parentId);
  }
}

const mergedIdsOf = ({ attributes }: { attributes: Readonly<Record<string, unknown>> | null }) =>
  String(attributes?.['otel.merged_span_ids'] ?? '').split(',');

const inner = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'claude' };
const outer = {
  'openinference.span.kind': 'LLM',
  'llm.model_name': 'claude',
  'llm.input_messages.0.message.role': 'user',
  'llm.input_messages.0.message.content': 'How warm?',
  'llm.output_messages.0.message.role': 'assistant',
  'llm.output_messages.0.message.content': 'Mild.',
  'llm.token_count.prompt': 12,
  'llm.token_count.completion': 3,
  'session.id': 'thread-1',
  metadata: '{"plan":"pro"}',
};

const startNs = 1_760_000_000_000_000_000n;
const timesOf = (fromMs: number, toMs: number) => ({
  startNs: startNs + BigInt(fromMs) * 1_000_000n,
  endNs: startNs + BigInt(toMs) * 1_000_000n,
});
const usage = { 'gen_ai.usage.input_tokens': 12, 'gen_ai.usage.output_tokens': 3 };

/** A call that a framework observes in the trace of an agent, and its client in a trace of its own. */
interface ObservedTwice {
  /** Without an id, as a stream of LangChain and a failed call. */
  readonly responseId: string | undefined;
  /** Whether a third library observes it, between the client and the root of its trace. */
  readonly hasGateway: boolean;
  readonly isFailed: boolean;
}

/** The requests of a call: one span each, with the library that creates it. */
function observe(call: ObservedTwice, number: number): { span: SpanInit; library: string }[] {
  const id = call.responseId;
  const clientTrace = (number + 16).toString(16).padStart(32, '7');
  const gateway = { parentSpanId: idOf(7_000 + number) };
  const status = call.isFailed ? { code: 2 } : { code: 1 };
  const used = call.isFailed ? {} : usage;
  const raw = id === undefined ? {} : { 'output.value': JSON.stringify({ id, model: 'claude' }) };
  const spans = [
    {
      library: 'framework',
      span: {
        ...{ traceId, spanId: idOf(100 + number), parentSpanId: idOf(0), ...timesOf(0, 90), status },
        attributes: { ...outer, 'session.id': `thread-${number}`, ...raw },
      },
    },
    {
      library: 'client',
      span: {
        ...{ traceId: clientTrace, spanId: idOf(200 + number), ...timesOf(10, 80), status },
        ...(call.hasGateway && gateway),
        attributes: { ...inner, ...used, ...(id !== undefined && { 'gen_ai.response.id': id }) },
      },
    },
  ];
  if (call.hasGateway)
    spans.push({
      library: 'gateway',
      span: {
        ...{ traceId: clientTrace, spanId: gateway.parentSpanId, ...timesOf(5, 85), status },
        attributes: { ...inner, ...used },
      },
    });
  return spans as { span: SpanInit; library: string }[];
}

test.each([1, 2, 3, 4, 5, 6])(
  'spans of two libraries in different traces and requests are one event by the response id: order %s',
  async (seed) => {
    const random = randomNumbers(seed);
    const spaceId = await newSpace();
    // The first three are simultaneous and equal, and the last ones have no id.
    const observed = Array.from({ length: 9 }, (_, number) => ({
      responseId: number < 6 ? `msg_${number}` : undefined,
      hasGateway: random(3) === 0,
      isFailed: number === 8,
    }));
    const agent: SpanInit = {
      ...{ traceId, spanId: idOf(0), ...timesOf(0, 100) },
      attributes: attributesOf('agent', 0),
    };
    const requests = [
      requestOf(spaceId, [agent], 'framework'),
      ...observed.flatMap(observe).map(({ span, library }) => requestOf(spaceId, [span], library)),
    ];
    await deliverAll(random, [...requests, ...requests.filter(() => random(3) === 0)]);
    const rows = await database.select().from(events).where(eq(events.spaceId, spaceId));
    // Those without an id are two events each: time alone is no reason to merge.
    expect(rows).toHaveLength(6 + 2 * 3);
    for (const number of observed.keys().filter((at) => at < 6)) {
      const ids = observe(observed[number] as ObservedTwice, number).map(({ span }) => span.spanId ?? '');
      const own = rows.filter(({ attributes }) => ids.includes(String(attributes?.['otel.span_id'])));
      expect(own).toMatchObject([
        {
          ...{ agentId: 'agent-0', threadId: `thread-${number}`, inputPreview: 'How warm?' },
          ...{ outputPreview: 'Mild.', inputTokens: 12, totalTokens: 15 },
        },
      ]);
      const merged = String(own[0]?.attributes?.['otel.merged_span_ids']).split(',');
      expect([own[0]?.attributes?.['otel.span_id'], ...merged].sort()).toEqual(ids.sort());
    }
    expect((await readUsage(database, spaceId))?.events).toBe(rows.length);
    const stored = await database.select().from(segments).where(eq(segments.spaceId, spaceId));
    expect(stored.reduce((sum, { eventCount }) => sum + eventCount, 0)).toBe(rows.length);
    await expectStatistics(spaceId, 0);
  },
);

test('a span and the agent above it, in two requests that a writer stores together', async () => {
  const spaceId = await newSpace();
  const [call, agent] = [
    { kind: 'llm', parent: 0 },
    { kind: 'agent', parent: undefined },
  ] as const;
  const others = { threadId: undefined, userId: undefined };
  const requests = [toSpan({ ...call, ...others }, 1), toSpan({ ...agent, ...others }, 0)].map((span) =>
    requestOf(spaceId, [span]),
  );
  for (const { sent } of requests) await storeParts(database, sent);
  const nodes = requests.flatMap(({ messages }) => messages);
  await storeNodes(database, spaceId, { sent: nodes });
  const read = async () => {
    const pages = await Array.fromAsync(
      exportTexts({ ...textsOf(spaceId), openBytes: new OpenBytes(1024 ** 2) }, {}),
    );
    const { context, inherited } = JSON.parse(pages.flat()[0] ?? '');
    const lag = (await readTrace(textsOf(spaceId), traceUuidOf(traceId)))?.unresolvedMs;
    return { context, inherited, isResolved: lag === null, isWaiting: (lag ?? -1) >= 0 };
  };
  expect(await read()).toEqual({ context: {}, inherited: undefined, isResolved: false, isWaiting: true });
  await resolveAll();
  const stored = await database.select().from(events).where(eq(events.spaceId, spaceId));
  expect(stored.map(({ agentId }) => agentId)).toEqual(['agent-0']);
  const inherited = { agentId: 'agent-0' };
  expect(await read()).toEqual({ context: {}, inherited, isResolved: true, isWaiting: false });
});

test('three simultaneous calls of one library stay three, also with a response id that never changes', async () => {
  const spaceId = await newSpace();
  const traceOf = (number: number) => (number + 16).toString(16).padStart(32, '5');
  const requests = Array.from({ length: 3 }, (_, number) => {
    const attributes = { ...inner, ...usage, 'gen_ai.response.id': 'constant' };
    return requestOf(spaceId, [{ traceId: traceOf(number), spanId: idOf(number), attributes }], 'client');
  });
  await Promise.all(requests.map((request) => request.deliver()));
  expect(await database.$count(events, eq(events.spaceId, spaceId))).toBe(3);
  // A second library observes them, one by one: each of its spans belongs to another call.
  for (const number of [0, 1, 2]) {
    const attributes = { ...outer, 'output.value': '{"id":"constant","model":"claude"}' };
    const span = { traceId: traceOf(9), spanId: idOf(10 + number), attributes };
    await requestOf(spaceId, [span], 'framework').deliver();
  }
  expect(await database.$count(events, eq(events.spaceId, spaceId))).toBe(3);
});

test('spans of two libraries with one parent, model and usage are one event also in different requests', async () => {
  const spaceId = await newSpace();
  const below = { traceId, parentSpanId: idOf(0) };
  const refused = { ...below, status: { code: 2 }, attributes: inner } as const;
  const spans = [
    { library: 'framework', span: { ...below, spanId: idOf(1), attributes: outer } },
    { library: 'client', span: { ...below, spanId: idOf(2), attributes: { ...inner, ...usage } } },
    // Another call of the first library, and one with another usage.
    { library: 'framework', span: { ...below, spanId: idOf(3), attributes: outer } },
    {
      library: 'client',
      span: {
        ...{ ...below, spanId: idOf(4) },
        attributes: { ...inner, ...usage, 'gen_ai.usage.output_tokens': 4 },
      },
    },
    // A refused call, which has no usage.
    { library: 'framework', span: { ...refused, spanId: idOf(5) } },
    { library: 'client', span: { ...refused, spanId: idOf(6) } },
  ];
  for (const { library, span } of spans) await requestOf(spaceId, [span], library).deliver();
  const rows = await database.select().from(events).where(eq(events.spaceId, spaceId));
  expect(rows).toHaveLength(4);
});

test('an event that another program stored under the id of a span stays, and does not stop its message', async () => {
  const otel = {
    part: { span_id: idOf(1), same: {}, own: { llm: { model: { a: 1 } }, status: { state: 'ok' } } },
  };
  const foreign = [
    toolEvent({}),
    llmEvent({ properties: { llm: { model: 'own', input: {}, output: {}, otel } } }),
  ] as const;
  const countFailures = async () =>
    (await register.getSingleMetric('weir_writer_merge_failures_total')?.get())?.values[0]?.value ?? 0;
  const failuresBefore = await countFailures();
  for (const event of foreign) {
    const spaceId = await newSpace();
    const id = eventIdOf(traceId, idOf(1));
    await storeParts(database, [partOf(spaceId, [{ ...event, id, traceId: traceUuidOf(traceId) }])]);
    const spans = [
      { traceId, spanId: idOf(1), parentSpanId: idOf(0), attributes: { ...inner, ...usage } },
      { traceId, spanId: idOf(0), attributes: { ...outer, ...usage } },
    ];
    for (const span of spans) await requestOf(spaceId, [span]).deliver();
    const rows = await database.select().from(events).where(eq(events.spaceId, spaceId));
    expect(rows.find((row) => row.id === id)).toMatchObject({ type: event.type });
  }
  expect(await countFailures()).toBeGreaterThan(failuresBefore);
});

test.each(['the request', 'the end of the stream'])(
  'a stream that a library records as two spans is one event when %s comes first',
  async (first) => {
    const spaceId = await newSpace();
    const stream = { ...inner, request_data: '{"model":"claude"}' };
    const read = { 'logfire.span_type': 'log', duration: 8.5, 'session.id': 'thread-1', ...usage };
    const spans = [
      { spanId: idOf(1), ...timesOf(0, 400), attributes: { ...stream, 'logfire.span_type': 'span' } },
      { spanId: idOf(2), ...timesOf(9_000, 9_000), attributes: { ...stream, ...read } },
      // An equal stream later.
      { spanId: idOf(3), ...timesOf(20_000, 20_400), attributes: { ...stream, 'logfire.span_type': 'span' } },
    ].map((span) => ({ traceId, parentSpanId: idOf(0), ...span }));
    if (first === 'the end of the stream') spans.reverse();
    for (const span of [...spans, ...spans]) await requestOf(spaceId, [span], 'logfire.anthropic').deliver();
    const rows = await database.select().from(events).where(eq(events.spaceId, spaceId));
    expect(rows).toHaveLength(2);
    const call = rows.find(({ id }) => id === eventIdOf(traceId, idOf(1)));
    expect(call).toMatchObject({
      threadId: 'thread-1',
      inputTokens: 12,
      durationMs: 9_000,
      attributes: { 'otel.merged_span_ids': idOf(2) },
    });
  },
);

test.each(['the empty span', 'the detailed span'])(
  'two spans of one call in different requests are one event, with all data, when %s comes first',
  async (first) => {
    const spaceId = await newSpace();
    const spans = [
      { traceId, spanId: idOf(0), attributes: outer },
      { traceId, spanId: idOf(1), parentSpanId: idOf(0), attributes: inner },
    ];
    if (first === 'the empty span') spans.reverse();
    const others = [{ traceId: traceId.replace(/^./, 'e'), spanId: idOf(7), attributes: inner }];
    for (const span of spans) await requestOf(spaceId, [span, ...others]).deliver();
    // The same again: nothing changes.
    for (const span of spans) await requestOf(spaceId, [span, ...others]).deliver();
    const rows = await database.select().from(events).where(eq(events.spaceId, spaceId));
    expect(rows).toHaveLength(2);
    const call = rows.find(({ id }) => id === eventIdOf(traceId, idOf(1)));
    expect(call).toMatchObject({
      threadId: 'thread-1',
      inputPreview: 'How warm?',
      outputPreview: 'Mild.',
      inputTokens: 12,
      attributes: { plan: 'pro', 'otel.span_id': idOf(1), 'otel.merged_span_ids': idOf(0) },
    });
    expect(call?.attributes).not.toHaveProperty('otel.parent_event_id');
    const [text] = await readEventTexts(database, spaceId, call === undefined ? [] : [call]);
    expect(JSON.parse(text ?? '')).toMatchObject({
      id: call?.id,
      properties: { llm: { output: { response: 'Mild.' } } },
    });
    const stored = await database.select().from(segments).where(eq(segments.spaceId, spaceId));
    expect(stored.reduce((sum, { eventCount }) => sum + eventCount, 0)).toBe(2);
    expect(stored.map(({ body }) => zstdDecompressSync(body).toString()).join()).not.toContain(
      eventIdOf(traceId, idOf(0)),
    );
    expect((await readUsage(database, spaceId))?.events).toBe(2);
    await foldStatistics(database);
    const byName = await database.select().from(eventStats).where(eq(eventStats.spaceId, spaceId));
    expect(byName.reduce((sum, row) => sum + row.events, 0)).toBe(2);
    expect(byName.reduce((sum, row) => sum + (row.inputTokens ?? 0), 0)).toBe(12);
  },
);

test.each([
  [[0], [1], [2]],
  [[1], [0], [2]],
  [[0], [2], [1]],
  [[1], [2], [0]],
  [[0, 1], [2]],
  [[2], [1, 0]],
])('a span above two calls has no part in their events, in requests %j %j', async (...requests) => {
  const spaceId = await newSpace();
  const below = { traceId, parentSpanId: idOf(0) };
  const spans = [
    {
      ...{ traceId, spanId: idOf(0) },
      attributes: { ...outer, 'llm.token_count.prompt': 30, 'llm.token_count.completion': 9 },
    },
    { ...below, spanId: idOf(1), attributes: { ...inner, ...usage } },
    { ...below, spanId: idOf(2), attributes: { ...inner, ...usage, 'gen_ai.usage.input_tokens': 18 } },
  ] satisfies SpanInit[];
  for (const numbers of [...requests, ...requests])
    await requestOf(
      spaceId,
      spans.filter((_, number) => numbers?.includes(number)),
    ).deliver();
  const { id, inputTokens, inputPreview, threadId, attributes } = events;
  const rows = await database
    .select({ id, inputTokens, inputPreview, threadId, attributes })
    .from(events)
    .where(eq(events.spaceId, spaceId));
  const own = { inputPreview: null, threadId: 'thread-1' };
  expect(rows.sort((a, b) => (a.inputTokens ?? 0) - (b.inputTokens ?? 0))).toMatchObject([
    { id: eventIdOf(traceId, idOf(1)), inputTokens: 12, ...own },
    { id: eventIdOf(traceId, idOf(2)), inputTokens: 18, ...own },
  ]);
  for (const row of rows) {
    expect(row.attributes).not.toHaveProperty('otel.merged_span_ids');
    expect(row.attributes).not.toHaveProperty('plan');
  }
  expect((await readUsage(database, spaceId))?.events).toBe(2);
  await expectStatistics(spaceId, 0);
  const stored = await database.select().from(segments).where(eq(segments.spaceId, spaceId));
  expect(stored.map(({ body }) => zstdDecompressSync(body).toString()).join()).not.toContain('Mild.');
});

test.each([1, 2])(
  'a tool below a span names the event of its call, when %s calls turn out to be below it',
  async (calls) => {
    const spaceId = await newSpace();
    const above = { traceId, parentSpanId: idOf(0) };
    const tool = { ...above, spanId: idOf(9), attributes: attributesOf('tool', 9) };
    await requestOf(spaceId, [{ traceId, spanId: idOf(0), attributes: outer }, tool]).deliver();
    const toolId = eventIdOf(traceId, idOf(9));
    expect(await parentsOf(spaceId, toolId)).toEqual(Array(5).fill(eventIdOf(traceId, idOf(0))));
    for (let call = 1; call <= calls; call++) {
      // Between them is a span that is no event.
      const link = { ...above, spanId: idOf(20 + call), attributes: { 'http.route': '/call' } };
      const attributes = { ...inner, 'gen_ai.usage.input_tokens': call };
      const span = { traceId, spanId: idOf(call), parentSpanId: link.spanId, attributes };
      await requestOf(spaceId, [link, span]).deliver();
    }
    // A span that is the sum of two calls is no event.
    const parent = calls === 1 ? eventIdOf(traceId, idOf(1)) : undefined;
    expect(await parentsOf(spaceId, toolId)).toEqual(Array(5).fill(parent));
    expect(await parentsOf(spaceId, eventIdOf(traceId, idOf(1)))).toEqual(Array(5).fill(undefined));
  },
);

/**
 * The parent of an event wherever it is read: the page of its trace, the opened event, and the exports of
 * texts, of columns, and of both.
 */
async function parentsOf(spaceId: string, id: string): Promise<unknown[]> {
  const space = { ...textsOf(spaceId), openBytes: new OpenBytes(1024 ** 2) };
  const trace = await readTrace(textsOf(spaceId), traceUuidOf(traceId));
  const opened = await readWholeEvent(space, id);
  const [texts, rows, both] = await Promise.all(
    [exportTexts(space, {}), exportEvents(space, {}), exportWholeEvents(space, {})].map(async (pages) =>
      (await Array.fromAsync<unknown[]>(pages)).flat(),
    ),
  );
  const text = texts?.map((one) => JSON.parse(String(one))).find((event) => event.id === id);
  const row = (rows as ExportedEvent[]).find((event) => event.id === id);
  const whole = (both as WholeExportedEvent[]).find(({ event }) => event.id === id);
  const named = [JSON.parse(opened?.event ?? ''), text, JSON.parse(whole?.text ?? '')].map(
    ({ additionalProperties }) => additionalProperties['otel.parent_event_id'],
  );
  const [ofTrace] = trace?.events.filter((event) => event.id === id) ?? [];
  return [ofTrace?.parent?.id, row?.attributes?.['otel.parent_event_id'], ...named];
}

test.each([
  [0, 1, 2],
  [1, 2, 0],
  [2, 0, 1],
  [1, 0, 2],
])(
  'the content of a call in log records becomes part of its event, whatever comes first: %s, %s, %s',
  async (...order) => {
    const spaceId = await newSpace();
    const [call] = [idOf(1)];
    const inSpan = { traceId, spanId: call };
    const logsOf = (name: string, body: object) =>
      messageOf(
        spaceId,
        otlpLogs(toProtobufLogs([{ ...inSpan, eventName: name, body: JSON.stringify(body) }])),
      );
    const requests = [
      requestOf(spaceId, [
        {
          ...inSpan,
          attributes: { ...inner, 'gen_ai.usage.input_tokens': 12, 'gen_ai.usage.output_tokens': 3 },
        },
      ]),
      logsOf('gen_ai.user.message', { role: 'user', content: 'How warm?' }),
      logsOf('gen_ai.choice', { message: { role: 'assistant', content: 'Mild.' }, finish_reason: 'stop' }),
    ];
    for (const index of [...order, ...order]) await requests[index]?.deliver();
    const rows = await database.select().from(events).where(eq(events.spaceId, spaceId));
    expect(rows).toMatchObject([
      {
        id: eventIdOf(traceId, call),
        name: 'claude',
        inputPreview: 'How warm?',
        outputPreview: 'Mild.',
        inputTokens: 12,
        durationMs: 1250.500001,
      },
    ]);
    const [text] = await readEventTexts(database, spaceId, rows);
    const { llm } = JSON.parse(text ?? '').properties;
    expect(llm.output).toMatchObject({ response: 'Mild.', finishReason: 'stop' });
    expect((await readUsage(database, spaceId))?.events).toBe(1);
    await foldStatistics(database);
    const byName = await database.select().from(eventStats).where(eq(eventStats.spaceId, spaceId));
    expect(byName.reduce((sum, row) => sum + row.events, 0)).toBe(1);
    const trace = await readTrace(textsOf(spaceId), traceUuidOf(traceId));
    expect(trace?.events).toMatchObject([{ id: eventIdOf(traceId, call), missingParentId: null }]);
  },
);

/** The records of one call of OpenTelemetry's GenAI events, which an exporter may cut anywhere. */
const loggedCall = (spanId: string) => {
  const call = { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{}' } };
  const bodies = [
    ['gen_ai.system.message', { role: 'system', content: 'Be brief.' }],
    ['gen_ai.user.message', { role: 'user', content: 'Good morning, I am in the canton of Bern.' }],
    ['gen_ai.assistant.message', { role: 'assistant', content: 'Hello.' }],
    ['gen_ai.user.message', { role: 'user', content: 'How warm?' }],
    ['gen_ai.assistant.message', { role: 'assistant', tool_calls: [call] }],
    ['gen_ai.tool.message', { role: 'tool', id: 'call_1', content: '21' }],
    ['gen_ai.choice', { index: 0, message: { role: 'assistant', content: 'Mild.' }, finish_reason: 'stop' }],
  ] as const;
  const startNs = 1_760_000_000_000_000_000n;
  const records = bodies.map(([eventName, body], at) => ({
    ...{ traceId, spanId, eventName, body: JSON.stringify(body), timeNs: startNs + BigInt(at) * 1_000_000n },
  }));
  const messages = bodies.map(
    ([, { index, message, ...body }]: readonly [string, Record<string, unknown>]) =>
      message === undefined ? body : { index, ...body, ...message },
  );
  return { records, messages };
};

test.each([
  [1, true],
  [2, true],
  [3, false],
  [4, false],
])(
  'log records of one call in several requests are one event with the whole conversation: %s, with a span: %s',
  async (seed, hasSpan) => {
    const spaceId = await newSpace();
    const random = randomNumbers(seed);
    const spanId = idOf(1);
    const { records, messages } = loggedCall(spanId);
    const cutAt = (...places: number[]) =>
      [0, ...places].map((from, at) =>
        messageOf(spaceId, otlpLogs(toProtobufLogs(records.slice(from, places[at])))),
      );
    const span = { traceId, spanId, attributes: { ...inner, 'gen_ai.usage.input_tokens': 12 } };
    // A retry may be cut in another way.
    const requests = [...cutAt(3, 5), ...cutAt(2, 6), ...(hasSpan ? [requestOf(spaceId, [span])] : [])];
    for (const request of shuffle(random, [...requests, ...requests])) await request.deliver();
    const rows = await database.select().from(events).where(eq(events.spaceId, spaceId));
    expect(rows).toMatchObject([
      hasSpan
        ? { id: eventIdOf(traceId, spanId), inputTokens: 12, durationMs: 1250.500001 }
        : { inputTokens: null, outputPreview: 'Mild.', durationMs: 6, startTimeMs: 1_760_000_000_000 },
    ]);
    const [text] = await readEventTexts(database, spaceId, rows);
    const { input, output } = JSON.parse(text ?? '').properties.llm;
    expect(input).toEqual({
      system: 'Be brief.',
      prompt: 'How warm?',
      messages: messages.slice(0, -1),
    });
    expect(output).toMatchObject({ response: 'Mild.', finishReason: 'stop', messages: messages.slice(-1) });
    expect((await readUsage(database, spaceId))?.events).toBe(1);
    await expectStatistics(spaceId, 0);
  },
);

/**
 * Lists by agent, thread and user find the events, although their segments were stored without these values.
 */
async function expectFound(spaceId: string, expected: readonly ReturnType<typeof expectedOf>[]) {
  for (const column of ['agentId', 'threadId', 'userId'] as const) {
    const counts = Map.groupBy(expected, (one) => one[column]);
    for (const [value, own] of counts) {
      if (value === null) continue;
      const columns = { id: events.id, startTimeMs: events.startTimeMs };
      const { rows } = await readEventPage(database, spaceId, {
        columns,
        filter: { [column]: value },
        after: undefined,
        limit: 100,
      });
      expect(rows).toHaveLength(own.length);
    }
  }
}

/** The statistics are the sums over the stored events. */
async function expectStatistics(spaceId: string, cacheReadTokens = 2) {
  await foldStatistics(database);
  const { agentId, inputTokens, type } = events;
  const rows = await database
    .select({ agentId, inputTokens, type })
    .from(events)
    .where(eq(events.spaceId, spaceId));
  for (const table of [eventStats, eventStatsRollups, agentStats, agentStatsRollups]) {
    const isByAgent = 'agentId' in table;
    const where = 'spanHours' in table ? eq(table.spanHours, 6) : undefined;
    const counted = await database
      .select()
      .from(table)
      .where(and(eq(table.spaceId, spaceId), where));
    const own = rows.filter((row) => !isByAgent || row.agentId !== null);
    const sum = (read: (row: (typeof counted)[number]) => number | null) =>
      counted.reduce((total, row) => total + (read(row) ?? 0), 0);
    expect(sum((row) => row.events)).toBe(own.length);
    expect(sum((row) => row.inputTokens)).toBe(own.reduce((total, row) => total + (row.inputTokens ?? 0), 0));
    expect(sum((row) => row.cacheReadTokens)).toBe(
      cacheReadTokens * own.filter((row) => row.type === 'llm').length,
    );
    const elements = counted.flatMap(({ latency }) => latency);
    expect(elements.reduce((total, element) => total + Number(BigInt.asIntN(40, element)), 0)).toBe(
      own.length,
    );
  }
}

test('a span that was in quarantine is resolved when its event is replayed', async () => {
  const spaceId = await newSpace();
  const batch = otlp(
    toProtobuf({ spans: [{ traceId, spanId: idOf(2), parentSpanId: idOf(1), attributes: inner }] }),
  );
  const [part] = batch.parts.map(({ body }) => partOf(spaceId, JSON.parse(body.toString()).events));
  if (part === undefined) throw new Error('the span is no event');
  await quarantineEvent(
    database,
    { ...part, columns: part.columns },
    { sqlstate: '22021', message: 'refused' },
  );
  const nodes = batch.nodes.map((json) => ({ json, receivedAtMs: BigInt(Date.now()) }));
  await storeNodes(database, spaceId, { sent: nodes });
  await resolveAll();
  const below = { traceId, parentSpanId: idOf(0) };
  await requestOf(spaceId, [{ ...below, spanId: idOf(1), attributes: outer }]).deliver();
  await requestOf(spaceId, [{ traceId, spanId: idOf(0), attributes: attributesOf('agent', 0) }]).deliver();
  const read = () => database.select().from(events).where(eq(events.spaceId, spaceId));
  expect(await read()).toMatchObject([{ id: eventIdOf(traceId, idOf(1)), agentId: 'agent-0' }]);
  expect((await replayQuarantined(database, { spaceId })).failed).toEqual([]);
  await resolveAll();
  expect(await read()).toMatchObject([
    { id: eventIdOf(traceId, idOf(2)), agentId: 'agent-0', threadId: 'thread-1', outputPreview: 'Mild.' },
  ]);
  expect((await readUsage(database, spaceId))?.events).toBe(1);
  await expectStatistics(spaceId, 0);
});

test('an erasure clears the names of spans, and a span that is sent again does not restore them', async () => {
  const spaceId = await newSpace();
  const run = { ...attributesOf('agent', 0), 'user.id': 'gone', 'session.id': 'private thread' };
  const agent = requestOf(spaceId, [{ traceId, spanId: idOf(0), attributes: run }]);
  const chain = requestOf(spaceId, [
    {
      traceId,
      spanId: idOf(1),
      parentSpanId: idOf(0),
      attributes: attributesOf('chain', 1),
      name: 'private chain',
    },
  ]);
  const call = (number: number) =>
    requestOf(spaceId, [
      { traceId, spanId: idOf(number), parentSpanId: idOf(1), attributes: attributesOf('llm', number) },
    ]);
  await call(2).deliver();
  await chain.deliver();
  await agent.deliver();
  const { url } = nats;
  const connection = resources.use(await connectQueue(url, 'test'));
  const { notReached } = await eraseEvents({ database: erasing, connection }, spaceId, {
    subject: { kind: 'user', value: 'gone' },
  });
  expect(notReached).toEqual([]);
  expect(await database.$count(events, eq(events.spaceId, spaceId))).toBe(0);
  await agent.deliver();
  await chain.deliver();
  const nodes = await database.select().from(traceNodes).where(eq(traceNodes.spaceId, spaceId));
  expect(nodes).toHaveLength(3);
  expect(JSON.stringify(nodes)).not.toMatch(/gone|private|agent-0/);
  // An event that is sent later belongs to nobody.
  await call(3).deliver();
  const [later] = await database.select(contextColumns).from(events).where(eq(events.spaceId, spaceId));
  expect(later).toEqual({ agentId: null, threadId: null, userId: null });
});

test('events that were merged into erased ones do not come back after a restore to a time before, and are counted as they were', async () => {
  const connection = resources.use(await connectQueue(nats.url, 'test'));
  await ensureControlStream(connection, { NATS_REPLICAS: 1 });
  await using source = await createDatabase();
  const open = (url: string) =>
    openDatabase(
      openPostgres(url, { applicationName: 'test', connectionsMax: 1, statementTimeoutMs: 60_000 }),
    );
  const copies: { url: string; name: string }[] = [];
  const work = async <Result>(url: string, run: (own: Database) => Promise<Result>) => {
    const own = open(url);
    try {
      return await run(own);
    } finally {
      await own.$client.end();
    }
  };
  const copy = async (name: string) => {
    const { url } = resources.use(await createDatabase({ template: new URL(source.url).pathname.slice(1) }));
    copies.push({ url, name });
  };
  const spaceId = await work(source.url, async (own) => {
    const { id } = await createSpace(own, 'test');
    await relayControlChanges(own, connection);
    return id;
  });
  const { lastSequence: afterSequence } = (await readControlState(connection)) ?? { lastSequence: 0 };
  // The outer call is an event until the inner one arrives. The sum of two calls is one until both have
  // arrived.
  const llm = (number: number, parent?: number) =>
    requestOf(spaceId, [
      {
        traceId,
        spanId: idOf(number),
        ...(parent !== undefined && { parentSpanId: idOf(parent) }),
        attributes: { ...attributesOf('llm', number), 'user.id': 'gone' },
      },
    ]);
  const [outer, inner, sum, first, second] = [llm(1), llm(2, 1), llm(3), llm(4, 3), llm(5, 3)];
  const requests = [outer, sum, inner, first, second];
  await copy('before all');
  await work(source.url, async (own) => {
    for (const one of [outer, sum]) await one.deliver(false, own);
  });
  await copy('before the inner calls');
  await work(source.url, async (own) => {
    for (const one of [inner, first, second]) await one.deliver(false, own);
  });
  await copy('after the merge');
  const measure = async (own: Database) => {
    await foldStatistics(own);
    const [stats] = await own
      .select({ events: sql`sum(events)::integer`, input: sql`sum(input_tokens)::integer` })
      .from(eventStats)
      .where(eq(eventStats.spaceId, spaceId));
    const stored = await own.$count(events, eq(events.spaceId, spaceId));
    return { stored, usage: (await readUsage(own, spaceId))?.events, stats };
  };
  const lost = await work(source.url, async (own) => {
    await eraseEvents({ database: own, connection }, spaceId, { subject: { kind: 'user', value: 'gone' } });
    await relayControlChanges(own, connection);
    return measure(own);
  });
  expect(lost).toMatchObject({ stored: 0, usage: 3 });
  for (const { url, name } of copies)
    await work(url, async (own) => {
      await applyControlChanges(own, connection, { start: { afterSequence } });
      for (const one of requests) await one.deliver(false, own);
      expect(await measure(own), name).toEqual(lost);
    });
});

test('spans expire with the retention of their space; those of traces without calls after a day', async () => {
  const spaceId = await newSpace();
  const [keptId, webId] = [traceId, traceId.replace(/^./, 'f')];
  await requestOf(spaceId, [
    { traceId: keptId, spanId: idOf(0), attributes: attributesOf('agent', 0) },
    { traceId: webId, spanId: idOf(0), attributes: attributesOf('plain', 0) },
  ]).deliver();
  const expire = (days: number) =>
    expireData(erasing, { retentionDaysMax: 30, nowMs: Date.now(), clock: clockAfter(days) });
  const count = () => database.$count(traceNodes, eq(traceNodes.spaceId, spaceId));
  await expire(0);
  expect(await count()).toBe(2);
  await expire(2);
  expect(await count()).toBe(1);
  await expire(31);
  expect(await count()).toBe(0);
  expect(await database.$count(traces, eq(traces.spaceId, spaceId))).toBe(0);
});

/** A retention clock that has passed this many days. */
const clockAfter = (days: number) =>
  ({ advance: async (_: unknown, atMs: number) => atMs + days * dayMs }) as RetentionClock;
