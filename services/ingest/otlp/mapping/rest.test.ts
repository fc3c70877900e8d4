import { expect, test } from 'vitest';
import { mapRequests, mapSpan, textsOf } from '../../../../test/support/otlp/mapped-spans.ts';

const chat = { 'gen_ai.operation.name': 'chat' };

test('attributes of every type are kept', () => {
  const { llm } = mapSpan({
    attributes: {
      ...chat,
      text: 'Grüße \0 "🦦"',
      empty: '',
      yes: true,
      integer: 42,
      negative: -7,
      double: 0.5,
      nothing: null,
      bytes: new Uint8Array([0, 255, 16]),
      list: ['a', 1, false, null, [2, [3]]],
      object: { a: { b: [{ c: 1 }] }, '': 'no name' },
      infinite: Number.POSITIVE_INFINITY,
      'not a number': Number.NaN,
    },
  }).properties;
  expect(llm.otel.attributes).toEqual({
    ...chat,
    text: 'Grüße \0 "🦦"',
    empty: '',
    yes: true,
    integer: 42,
    negative: -7,
    double: 0.5,
    nothing: null,
    bytes: 'AP8Q',
    list: ['a', 1, false, null, [2, [3]]],
    object: { a: { b: [{ c: 1 }] }, '': 'no name' },
    infinite: 'Infinity',
    'not a number': 'NaN',
  });
});

test('64-bit integers keep all of their digits', () => {
  const [text] = textsOf(
    mapRequests({
      spans: [
        {
          startNs: 1_760_000_000_123_456_789n,
          attributes: {
            'gen_ai.operation.name': 'execute_tool',
            'gen_ai.tool.call.arguments': '{"station":9007199254740993,"far":1e400,"half":0.5}',
            'gen_ai.tool.call.result': [{ id: -9_223_372_036_854_775_808n }],
            most: 9_223_372_036_854_775_807n,
          },
        },
      ],
    }),
  );
  expect(text).toContain('"input":{"station":9007199254740993,"far":1e400,"half":0.5}');
  expect(text).toContain('"output":[{"id":-9223372036854775808}]');
  expect(text).toContain('"most":9223372036854775807');
  expect(text).toContain('"startTimeUnixNano":1760000000123456789');
});

test('names of prototype properties are ordinary names', () => {
  const { properties, additionalProperties } = mapSpan({
    attributes: {
      ...chat,
      ['__proto__']: 'a',
      constructor: 'b',
      object: JSON.parse('{"__proto__":{"x":1}}'),
      'ai.telemetry.metadata.__proto__': 'c',
      'llm.tools.0.__proto__.x': 'd',
    },
  });
  const { attributes } = properties.llm.otel;
  expect(Object.entries(attributes)).toContainEqual(['__proto__', 'a']);
  expect(attributes.constructor).toBe('b');
  expect(JSON.stringify(attributes.object)).toBe('{"__proto__":{"x":1}}');
  expect(Object.entries(additionalProperties)).toContainEqual(['__proto__', 'c']);
  expect(({} as { x?: unknown }).x).toBeUndefined();
});

test('a value of the wrong type for its field stays in its attribute', () => {
  const { llm } = mapSpan({
    attributes: {
      ...chat,
      'gen_ai.request.model': ['a', 'b'],
      'gen_ai.usage.input_tokens': 'many',
      'gen_ai.usage.output_tokens': '12',
      'gen_ai.tool.definitions': 'none',
    },
  }).properties;
  expect(llm).toMatchObject({
    usage: { outputTokens: 12 },
    otel: {
      attributes: {
        ...chat,
        'gen_ai.request.model': ['a', 'b'],
        'gen_ai.usage.input_tokens': 'many',
        'gen_ai.tool.definitions': 'none',
      },
    },
  });
  expect(llm).not.toHaveProperty('model');
});

test('links, trace state and counts of dropped items are kept', () => {
  const { otel } = mapSpan({ attributes: chat, events: [{ name: 'retry', attributes: { n: 2 } }] }).properties
    .llm;
  expect(otel.events).toEqual([{ name: 'retry', timeUnixNano: expect.any(Number), attributes: { n: 2 } }]);
});

test('spans that have not ended are filtered', () => {
  const { counts } = mapRequests({
    spans: [
      { attributes: chat, endNs: 0n },
      { attributes: { ...chat, 'logfire.span_type': 'pending_span' }, spanId: 'a'.repeat(16) },
    ],
  });
  expect(counts).toEqual({ stored: 0, rejected: 0, filtered: { unfinished: 2 } });
});

test('the length of a numbered list is the number of its elements, not the largest number', () => {
  const { llm } = mapSpan({
    attributes: {
      ...chat,
      'llm.input_messages.999999.message.role': 'user',
      'llm.input_messages.999999.message.content': 'second',
      'llm.input_messages.7.message.role': 'user',
      'llm.input_messages.7.message.content': 'first',
      'llm.input_messages.99999999999.message.content': 'no index',
    },
  }).properties;
  expect(llm.input.messages).toHaveLength(2);
  expect(llm.input.prompt).toBe('second');
  expect(llm.otel.attributes).toHaveProperty(['llm.input_messages.99999999999.message.content']);
});
