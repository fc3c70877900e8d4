import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { errorTable } from '../../event/errors.ts';
import { llmEvent, someEvents, toolEvent, without } from '../../harness/fixtures/events.ts';
import { pricedCalls } from '../../harness/fixtures/priced-calls.ts';
import { readEventTexts } from '../../store/segments/read.ts';
import { postEvents } from '../support/http.ts';
import type { Tenant } from '../support/pipeline.ts';
import { toMessage } from '../support/protocols/message.ts';
import { callIngest, type Outcome, transports } from '../support/protocols/rpc-transports.ts';
import { usePipeline } from '../support/use-pipeline.ts';
import { untilDrained } from '../support/wait.ts';

/**
 * All protocols share one contract: the same events get the same response and are stored as the same rows and
 * JSON.
 */

// biome-ignore lint/suspicious/noExplicitAny: fixtures are any JSON.
type Json = any;

const realEvents = readFileSync(new URL('../../examples/events.ndjson', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Json);

const llm = (payload: Json) => llmEvent({ properties: { llm: payload } });
const tool = (payload: Json) => toolEvent({ properties: { tool: payload } });

/** Batches that are accepted, by name. Each can be encoded as JSON and as protobuf. */
const goodBatches: Record<string, Json[]> = {
  'real events': realEvents,
  nothing: [],
  'an event of each kind': [llmEvent(), toolEvent()],
  'an event with the required fields only': [
    without(
      llmEvent({
        context: {},
        additionalProperties: {},
        instrumentation: { vendor: 'weir', source: '', sourcePackage: '' },
        properties: { llm: {} },
      }),
      'traceId',
    ),
  ],
  'zeros, fractions and far times': [
    llmEvent({ startTimeMs: 0, endTimeMs: -8.64e15, durationMs: 0 }),
    llmEvent({ startTimeMs: 8.64e15, endTimeMs: 5e-324, durationMs: 0.1 }),
  ],
  'an error with codes of both types': [
    llmEvent({ status: { state: 'error', error: { code: 'E1', httpStatus: 429, message: 'slow down' } } }),
    toolEvent({ status: { state: 'error', error: { code: 7, httpStatus: '500' } } }),
    toolEvent({ status: { state: 'error', error: {} } }),
  ],
  'every field of usage': [
    llm({
      usage: {
        inputTokens: 1.5,
        inputTokenDetails: { uncachedTokens: 0, cacheReadTokens: 2, cacheWriteTokens: 3, of: 'more' },
        outputTokens: 4,
        outputTokenDetails: { reasoningTokens: 5, responseTokens: 6 },
        totalTokens: 1e300,
        cost: { usd: 0.01 },
      },
    }),
  ],
  'everything that decides a price': pricedCalls.map(([, call]) => llm(call)),
  'fields that the contract does not name': [
    llm({
      model: 'm',
      temperature: 0.2,
      input: { prompt: 'p', images: [null] },
      output: { mode: 'x', n: true },
    }),
    tool({ name: 't', callId: 'c', nested: { a: [1, 'b', false, null, {}, []] } }),
  ],
  'tools and calls of any shape': [
    llm({ input: { tools: ['t', { function: { parameters: {} } }] }, output: { toolCalls: [[], 1] } }),
  ],
  'a tool with payloads of every type': [null, 'text', 1.5, true, [1], { a: { b: {} } }].map((input) =>
    tool({ input, output: input }),
  ),
  'U+0000, quotes and all of Unicode': [
    llm({ model: 'a\0b"\\\n🦦\uFFFD', input: { prompt: '\u2028\u007F' } }),
    tool({ name: '\0', input: { '\0': '\0', __proto: 1 } }),
  ],
  'keys named like properties of a prototype': [
    tool(JSON.parse('{"input":{"__proto__":{"x":1},"constructor":null,"toString":"s"}}')),
  ],
  'identifiers in upper case': [llmEvent({ id: '7F1F6F0E-3C5B-4F60-9A51-0A5C0A6F8F12' })],
  'the same id twice': Array(2).fill(llmEvent({ id: '7f1f6f0e-3c5b-4f60-9a51-0a5c0a6f8f13' })),
  '500 events': someEvents(500),
};

const badBatches: Record<string, Json[]> = {
  '501 events': someEvents(501),
  'an id that is not a UUID': [llmEvent(), llmEvent({ id: 'x' })],
  'no id': [without(llmEvent(), 'id')],
  'a trace id that is not a UUID': [llmEvent({ traceId: 'x' })],
  'no start': [without(llmEvent(), 'startTimeMs')],
  'no duration, and no end in another': [
    without(llmEvent(), 'durationMs'),
    without(toolEvent(), 'endTimeMs'),
  ],
  'a time out of range': [llmEvent({ startTimeMs: 8.64e15 + 1 })],
  'no status': [without(llmEvent(), 'status')],
  'a status without a state': [llmEvent({ status: {} })],
  'an error code that is neither string nor number': [
    llmEvent({ status: { state: 'error', error: { code: [1] } } }),
  ],
  'an error code of null': [llmEvent({ status: { state: 'error', error: { code: null } } })],
  'no instrumentation': [without(llmEvent(), 'instrumentation')],
  'another vendor': [llmEvent({ instrumentation: { vendor: 'other', source: 's', sourcePackage: 'p' } })],
  'no source': [llmEvent({ instrumentation: { vendor: 'weir', sourcePackage: 'p' } })],
  'no context': [without(llmEvent(), 'context')],
  'no additional properties': [without(llmEvent(), 'additionalProperties')],
  'an additional property that is neither string nor number': [
    llmEvent({ additionalProperties: { a: true } }),
  ],
  'an additional property that nests': [llmEvent({ additionalProperties: { a: { b: 1 } } })],
  'a type and no payload': [llmEvent(), without(without(llmEvent(), 'properties'), 'type')],
};

const batches = { ...goodBatches, ...badBatches };

const { pipeline } = usePipeline();

async function postJson(tenant: Tenant, events: Json[]): Promise<Outcome> {
  const { status, body } = await postEvents(pipeline, tenant, events);
  if (status === 202) return body as Outcome;
  const { id, details } = (body as { error: { id: keyof typeof errorTable; details: string } }).error;
  return { id, status, details, code: errorTable[id].rpcCode };
}

/** The stored data of a space, without values that differ between spaces and requests. */
async function readStored(spaceId: string): Promise<Json[]> {
  const rows = await pipeline.sql<Json[]>`SELECT * FROM events WHERE space_id = ${spaceId} ORDER BY id`;
  const locators = rows.map((row) => ({ segmentId: row.segment_id, segmentIndex: row.segment_index }));
  const texts = await readEventTexts(pipeline.database, spaceId, locators);
  return rows.map(({ space_id, segment_id, segment_index, received_at, ...columns }, index) => ({
    ...columns,
    event: JSON.parse(texts[index] ?? 'null'),
  }));
}

const outcomes: Record<string, Record<string, Outcome>> = {};
const stored: Record<string, Json[]> = {};

beforeAll(async () => {
  const senders: Record<string, (tenant: Tenant, events: Json[]) => Promise<Outcome>> = { JSON: postJson };
  for (const [name, open] of Object.entries(transports)) {
    const transport = open(pipeline.url);
    senders[name] = (tenant, events) => callIngest(transport, tenant.apiKey, events.map(toMessage));
  }
  const spaces: Record<string, string> = {};
  for (const [name, send] of Object.entries(senders)) {
    const tenant = await pipeline.createTenant();
    spaces[name] = tenant.spaceId;
    const told: Record<string, Outcome> = {};
    outcomes[name] = told;
    for (const [batch, events] of Object.entries(batches)) {
      told[batch] = await send(tenant, events);
    }
  }
  await untilDrained(pipeline);
  for (const [name, spaceId] of Object.entries(spaces)) stored[name] = await readStored(spaceId);
}, 300_000);

describe.each(Object.keys(transports))('%s', (name) => {
  test.each(Object.keys(batches))('%s: the same response as with JSON', (batch) => {
    expect(outcomes[name]?.[batch]).toEqual(outcomes.JSON?.[batch]);
  });

  test('the same events are stored', () => {
    expect(stored.JSON?.length).toBeGreaterThan(realEvents.length + 500);
    expect(stored[name]).toEqual(stored.JSON);
  });
});

test.each(Object.keys(batches))('%s: accepted or rejected as expected', (batch) => {
  const isGood = Object.hasOwn(goodBatches, batch);
  expect(outcomes.JSON?.[batch]).toEqual(
    isGood ? { message: expect.any(String) } : expect.objectContaining({ id: expect.any(String) }),
  );
});
