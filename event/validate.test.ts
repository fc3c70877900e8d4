import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { llmEvent, toolEvent, without } from '../harness/fixtures/events.ts';
import { IngestError } from './errors.ts';
import { eventSchema } from './schema.ts';
import { compileBatchRules } from './validate.ts';

const { validateBatch: validate } = compileBatchRules('weir');

/** `id` and `details` of the error, or `accepted`. */
function judge(...events: unknown[]): string {
  return judgeBody({ events });
}

function judgeBody(body: unknown): string {
  try {
    validate(body);
    return 'accepted';
  } catch (error) {
    if (error instanceof IngestError) return `${error.id}: ${error.message}`;
    throw error;
  }
}

const rejected = (details: string) => `invalid_event_batch: ${details}`;

test('the schema of events is a valid JSON Schema', () => {
  const ajv = new Ajv2020();
  expect(ajv.validateSchema(eventSchema('weir')), ajv.errorsText()).toBe(true);
});

test.each([
  ['an LLM event', llmEvent()],
  ['a tool event', toolEvent()],
  ['an upper-case id', llmEvent({ id: '3F2504E0-4F89-41D3-9A0C-0305E82C3301' })],
  ['an empty context', llmEvent({ context: {} })],
  ['no additional properties', llmEvent({ additionalProperties: {} })],
  ['an empty LLM payload', llmEvent({ properties: { llm: {} } })],
  ['any object as tool payload', llmEvent({ type: 'tool', properties: { tool: { name: 5, more: [null] } } })],
  [
    'unknown fields anywhere',
    llmEvent({ more: 1, status: { state: 'ok', more: {} }, context: { more: null } }),
  ],
  [
    'both payloads, of which only the one of its type is checked',
    llmEvent({ properties: { llm: {}, tool: 5 } }),
  ],
  ['fractional and negative times', llmEvent({ startTimeMs: -1.5, endTimeMs: 0, durationMs: 0.25 })],
  ['times at the bounds', llmEvent({ startTimeMs: -8.64e15, endTimeMs: 8.64e15 })],
  ['an end before the start', llmEvent({ startTimeMs: 5, endTimeMs: 1, durationMs: 7 })],
  [
    'an error with code and status as numbers',
    llmEvent({ status: { state: 'error', error: { code: 1, httpStatus: 500 } } }),
  ],
  [
    'an error with code and status as text',
    llmEvent({ status: { state: 'error', error: { code: 'E', httpStatus: '500' } } }),
  ],
  ['empty texts', llmEvent({ instrumentation: { vendor: 'weir', source: '', sourcePackage: '' } })],
  ['odd Unicode in texts', llmEvent({ context: { threadId: '\0\uD800', userId: '🦦' } })],
  ['prototype keys as data', JSON.parse(JSON.stringify(llmEvent()).replace('"plan"', '"__proto__"'))],
])('%s is accepted', (_, event) => {
  expect(judge(event)).toBe('accepted');
});

test.each<[string, unknown]>([
  ...['id', 'type', 'startTimeMs', 'endTimeMs', 'durationMs', 'status', 'instrumentation', 'context'].map(
    (field): [string, unknown] => [`events[0].${field} is required`, without(llmEvent(), field)],
  ),
  ['events[0].additionalProperties is required', without(llmEvent(), 'additionalProperties')],
  ['events[0].properties is required', without(llmEvent(), 'properties')],
  ['events[0] must be an object', null],
  ['events[0] must be an object', []],
  ['events[0].id must be a UUIDv4', llmEvent({ id: '3f2504e0-4f89-11d3-9a0c-0305e82c3301' })],
  ['events[0].id must be a UUIDv4', llmEvent({ id: '3f2504e0-4f89-41d3-7a0c-0305e82c3301' })],
  ['events[0].id must be a UUIDv4', llmEvent({ id: '3f2504e0-4f89-41d3-9a0c-0305e82c3301\n' })],
  ['events[0].id must be a string', llmEvent({ id: 5 })],
  ['events[0].traceId must be a UUIDv4', llmEvent({ traceId: 'trace' })],
  ['events[0].type must be "llm" or "tool"', llmEvent({ type: 'LLM' })],
  ['events[0].type must be "llm" or "tool"', llmEvent({ type: null })],
  ['events[0].durationMs must be a number', llmEvent({ durationMs: '5' })],
  ['events[0].startTimeMs must be a number', llmEvent({ startTimeMs: Number.POSITIVE_INFINITY })],
  ['events[0].endTimeMs must lie within ±8.64e+15', llmEvent({ endTimeMs: 8.65e15 })],
  ['events[0].status.state is required', llmEvent({ status: {} })],
  ['events[0].status.state must be "ok" or "error"', llmEvent({ status: { state: 'OK' } })],
  ['events[0].status.error must be an object', llmEvent({ status: { state: 'ok', error: 'e' } })],
  [
    'events[0].status.error.code must be a string or a number',
    llmEvent({ status: { state: 'ok', error: { code: {} } } }),
  ],
  [
    'events[0].status.error.message must be a string',
    llmEvent({ status: { state: 'ok', error: { message: 1 } } }),
  ],
  [
    'events[0].instrumentation.vendor must be "weir"',
    llmEvent({ instrumentation: { vendor: 'Weir', source: '', sourcePackage: '' } }),
  ],
  [
    'events[0].instrumentation.sourcePackage is required',
    llmEvent({ instrumentation: { vendor: 'weir', source: '' } }),
  ],
  ['events[0].context.agentId must be a string', llmEvent({ context: { agentId: 7 } })],
  [
    'events[0].additionalProperties.a must be a string or a number',
    llmEvent({ additionalProperties: { a: true } }),
  ],
  [
    'events[0].additionalProperties["b c/~"] must be a string or a number',
    llmEvent({ additionalProperties: { 'b c/~': null } }),
  ],
  [
    'events[0].additionalProperties.n must be a string or a number',
    llmEvent({ additionalProperties: { n: Number.POSITIVE_INFINITY } }),
  ],
  ['events[0].properties.llm is required', llmEvent({ properties: { tool: {} } })],
  ['events[0].properties.tool is required', toolEvent({ properties: { llm: {} } })],
  ['events[0].properties.tool must be an object', toolEvent({ properties: { tool: [] } })],
  ['events[0].properties.llm.model must be a string', llmEvent({ properties: { llm: { model: null } } })],
  [
    'events[0].properties.llm.input.tools must be an array',
    llmEvent({ properties: { llm: { input: { tools: {} } } } }),
  ],
  [
    'events[0].properties.llm.usage.inputTokens must be a number',
    llmEvent({ properties: { llm: { usage: { inputTokens: '1' } } } }),
  ],
  [
    'events[0].properties.llm.usage.inputTokenDetails.cacheReadTokens must be a number',
    llmEvent({ properties: { llm: { usage: { inputTokenDetails: { cacheReadTokens: [] } } } } }),
  ],
])('%s', (details, event) => {
  expect(judge(event)).toBe(rejected(details));
});

test('details name the first violation, and count the others', () => {
  const bad = llmEvent({ id: 'x', durationMs: 'y' });
  expect(judge(llmEvent(), llmEvent({ durationMs: null }))).toBe(
    rejected('events[1].durationMs must be a number'),
  );
  expect(judge(llmEvent({ durationMs: null }), bad, null)).toBe(
    rejected('events[0].durationMs must be a number (and 3 more)'),
  );
});

test.each([
  [null, 'The body must be a JSON object of the form { "events": [ … ] }.'],
  [[], 'The body must be a JSON object of the form { "events": [ … ] }.'],
  ['events', 'The body must be a JSON object of the form { "events": [ … ] }.'],
  [{}, 'events is required'],
  [{ events: null }, 'events must be an array'],
  [{ events: {} }, 'events must be an array'],
])('the body %j is not a batch', (body, details) => {
  expect(judgeBody(body)).toBe(rejected(details));
});

test('an empty batch is accepted', () => {
  expect(judge()).toBe('accepted');
});

test('500 events are accepted, and 501 are rejected before they are validated', () => {
  const event = llmEvent();
  expect(judgeBody({ events: Array.from({ length: 500 }, () => event) })).toBe('accepted');
  expect(judgeBody({ events: Array.from({ length: 501 }, () => null) })).toMatch(/^too_many_events: .*501/);
});

test('JSON nested 512 deep is accepted, and deeper is rejected', () => {
  // The body, `events`, the event, `properties`, `tool` and `input` are six levels.
  const nested = (levels: number) => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
  expect(judge(toolEvent({ properties: { tool: { input: nested(507) } } }))).toBe('accepted');
  expect(judge(toolEvent({ properties: { tool: { input: nested(508) } } }))).toMatch(
    /^invalid_event_batch: .*512/,
  );
  expect(judge(toolEvent({ properties: { tool: { input: nested(1_000_000) } } }))).toMatch(/512/);
});

test('any JSON as a body, an event or a field is accepted or rejected, and nothing else is thrown', () => {
  const fields = Object.keys(llmEvent());
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(...fields), (value, field) => {
      for (const body of [
        value,
        { events: value },
        { events: [value] },
        { events: [llmEvent({ [field]: value })] },
      ]) {
        expect(judgeBody(body)).toMatch(/^(accepted|invalid_event_batch: .+|too_many_events: .+)$/s);
      }
    }),
    { numRuns: 500 },
  );
});
