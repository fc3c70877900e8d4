import { describe, expect, test } from 'vitest';
import type { SpanInit } from '../../../../harness/fixtures/spans.ts';
import { mapRequests } from '../../../../test/support/otlp/mapped-spans.ts';
import { eventIdOf } from '../mapping/ids.ts';
import { readRawResponse } from '../mapping/messages/raw-response.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const idOf = (letter: string) => letter.repeat(16);
const second = 1_000_000_000n;
const startNs = 1_760_000_000_000_000_000n;

/** A span of a model call with this start and end, in seconds. */
function span(
  letter: string,
  attributes: SpanInit['attributes'],
  init: Partial<SpanInit> & { at?: [number, number] } = {},
) {
  const { at: [from, to] = [0, 1], ...others } = init;
  const times = { startNs: startNs + BigInt(from) * second, endNs: startNs + BigInt(to) * second };
  return { traceId, spanId: idOf(letter), ...times, attributes, ...others } as SpanInit;
}

const usage = { 'gen_ai.usage.input_tokens': 12, 'gen_ai.usage.output_tokens': 3 };
const client = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'claude', ...usage };
const rich = {
  'openinference.span.kind': 'LLM',
  'llm.model_name': 'claude',
  'llm.provider': 'anthropic',
  'llm.input_messages.0.message.role': 'user',
  'llm.input_messages.0.message.content': 'How warm?',
  'llm.output_messages.0.message.role': 'assistant',
  'llm.output_messages.0.message.content': 'Mild.',
  'llm.token_count.prompt': 12,
  'llm.token_count.completion': 3,
  'session.id': 'thread-1',
};
const scope = (name: string, ...spans: SpanInit[]) => ({ scope: { name }, spans });

test('an empty span of the client below a rich span of an instrumentation is one event with all data', () => {
  const inner = span(
    'b',
    { ...client, 'gen_ai.response.id': 'msg_1' },
    { parentSpanId: idOf('a'), at: [1, 2] },
  );
  const outer = span('a', rich, { at: [0, 3] });
  const { events, counts } = mapRequests(scope('anthropic', inner), scope('openinference', outer));
  expect(counts).toEqual({ stored: 1, rejected: 0, filtered: { merged: 1 } });
  expect(events).toMatchObject([
    {
      id: eventIdOf(traceId, idOf('b')),
      durationMs: 1_000,
      instrumentation: { source: 'anthropic', sourcePackage: 'anthropic' },
      context: { threadId: 'thread-1' },
      additionalProperties: { 'otel.merged_span_ids': idOf('a') },
      properties: {
        llm: {
          model: 'claude',
          responseId: 'msg_1',
          input: { prompt: 'How warm?' },
          output: { response: 'Mild.' },
          usage: { totalTokens: 15 },
          otel: { merged: [{ scope: { name: 'openinference' } }] },
        },
      },
    },
  ]);
});

test('a span above several calls, or with a tool or an agent run between, is their sum', () => {
  const below = (letter: string, at: [number, number]) =>
    span(letter, client, { parentSpanId: idOf('a'), at });
  const several = mapRequests(
    scope('x', span('a', rich, { at: [0, 9] }), below('b', [1, 2]), below('c', [3, 4])),
  );
  expect(several.counts).toEqual({ stored: 2, rejected: 0, filtered: { aggregate: 1 } });
  const tool = span('b', { 'gen_ai.operation.name': 'execute_tool' }, { parentSpanId: idOf('a') });
  const call = span('c', client, { parentSpanId: idOf('b') });
  expect(mapRequests(scope('x', span('a', rich), tool, call)).counts).toEqual({
    stored: 2,
    rejected: 0,
    filtered: { aggregate: 1 },
  });
});

test('a span above a sum is a sum, too', () => {
  const below = (letter: string, parent: string) => span(letter, client, { parentSpanId: idOf(parent) });
  const { counts } = mapRequests(
    scope('x', span('a', rich), below('b', 'a'), below('c', 'b'), below('d', 'b')),
  );
  expect(counts).toEqual({ stored: 2, rejected: 0, filtered: { aggregate: 2 } });
});

test('a span above a call and above a tool that makes another call is their sum', () => {
  const tool = span('b', { 'gen_ai.operation.name': 'execute_tool' }, { parentSpanId: idOf('a') });
  const calls = [
    span('c', client, { parentSpanId: idOf('b') }),
    span('d', client, { parentSpanId: idOf('a') }),
  ];
  const { counts } = mapRequests(scope('x', span('a', rich), tool, ...calls));
  expect(counts).toEqual({ stored: 3, rejected: 0, filtered: { aggregate: 1 } });
});

test('a call is stored also where a span above it cannot be', () => {
  const outer = span('a', { ...rich, text: 'x'.repeat(9 * 1024 ** 2) });
  const { counts, events } = mapRequests(
    scope('x', outer),
    scope('y', span('b', client, { parentSpanId: idOf('a') })),
  );
  expect(counts).toEqual({ stored: 1, rejected: 1, filtered: {} });
  expect(events[0].additionalProperties).not.toHaveProperty('otel.merged_span_ids');
});

describe('two instrumentations of one call', () => {
  test('with one parent, model and usage, and times that overlap', () => {
    const [one, two] = [
      span('a', rich, { parentSpanId: idOf('f') }),
      span('b', client, { parentSpanId: idOf('f') }),
    ];
    const { events, counts } = mapRequests(scope('x', one), scope('y', two));
    expect(counts).toEqual({ stored: 1, rejected: 0, filtered: { merged: 1 } });
    expect(events[0].properties.llm.output.response).toBe('Mild.');
    const later = { ...two, startNs: startNs + 60n * second, endNs: startNs + 61n * second };
    expect(mapRequests(scope('x', one), scope('y', later)).counts.stored).toBe(2);
    const other = { ...two, attributes: { ...client, 'gen_ai.usage.output_tokens': 4 } };
    expect(mapRequests(scope('x', one), scope('y', other)).counts.stored).toBe(2);
  });

  test('in two traces, by the response id; the event is in the trace of the application', () => {
    const inTrace = span('a', { ...rich, 'output.value': '{"id":"msg_1"}' }, { parentSpanId: idOf('f') });
    const root = span('b', { ...client, 'gen_ai.response.id': 'msg_1' }, { traceId: '1'.repeat(32) });
    const { events, counts } = mapRequests(scope('y', root), scope('x', inTrace));
    expect(counts).toEqual({ stored: 1, rejected: 0, filtered: { merged: 1 } });
    expect(events[0].id).toBe(eventIdOf(traceId, idOf('a')));
    const another = { ...root, attributes: { ...client, 'gen_ai.response.id': 'msg_2' } };
    expect(mapRequests(scope('y', another), scope('x', inTrace)).counts.stored).toBe(2);
  });

  test('three simultaneous equal calls stay three, with one instrumentation or with two', () => {
    const calls = (letters: string, attributes: SpanInit['attributes']) =>
      [...letters].map((letter) => span(letter, attributes, { parentSpanId: idOf('f') }));
    expect(mapRequests(scope('x', ...calls('abc', client))).counts.stored).toBe(3);
    const { counts } = mapRequests(scope('x', ...calls('abc', client)), scope('y', ...calls('123', rich)));
    expect(counts).toEqual({ stored: 3, rejected: 0, filtered: { merged: 3 } });
  });

  test('spans without a common id are never grouped across traces', () => {
    const root = span('b', client, { traceId: '1'.repeat(32) });
    expect(mapRequests(scope('y', root), scope('x', span('a', rich))).counts.stored).toBe(2);
  });
});

test('the response id is found in responses of the clients and of LangChain', () => {
  const langChain = (kwargs: object) =>
    JSON.stringify({ generations: [[{ message: { kwargs } }]], llm_output: {} });
  expect(readRawResponse('{"id":"chatcmpl-1"}').id).toBe('chatcmpl-1');
  expect(readRawResponse(langChain({ id: 'run-1', response_metadata: { id: 'msg_1' } })).id).toBe('msg_1');
  expect(readRawResponse(langChain({ id: 'run-1' })).id).toBeUndefined();
  expect(readRawResponse('text').id).toBeUndefined();
});

test('the cost of many equal simultaneous calls is linear', () => {
  const many = Array.from({ length: 5_000 }, (_, index) => ({
    ...span('a', client, { parentSpanId: idOf('f') }),
    spanId: (index + 1).toString(16).padStart(16, '0'),
  }));
  expect(mapRequests(scope('x', ...many)).counts.stored).toBe(5_000);
});

test('a refused call that two libraries record beside each other is one event; those of one library are several', () => {
  const failed = { parentSpanId: idOf('f'), status: { code: 2, message: 'no such model' } } as const;
  const model = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'none' };
  const asked = { ...model, 'gen_ai.input.messages': '[{"role":"user","content":"How warm?"}]' };
  const both = (name: string, letters: string, attributes: SpanInit['attributes'], at: [number, number]) =>
    scope(name, ...[...letters].map((letter) => span(letter, attributes, { ...failed, at })));
  const one = mapRequests(both('client', 'b', model, [1, 2]), both('framework', 'a', asked, [0, 3]));
  expect(one.counts).toEqual({ stored: 1, rejected: 0, filtered: { merged: 1 } });
  expect(one.events).toMatchObject([
    {
      id: eventIdOf(traceId, idOf('b')),
      status: { state: 'error', error: { message: 'no such model' } },
      properties: { llm: { input: { prompt: 'How warm?' } } },
    },
  ]);
  const three = mapRequests(both('client', 'bcd', model, [1, 2]), both('framework', '123', asked, [0, 3]));
  expect(three.counts).toEqual({ stored: 3, rejected: 0, filtered: { merged: 3 } });
  // Another model, a later time, and a call that did not fail are other calls.
  const others = mapRequests(
    both('client', 'b', { ...model, 'gen_ai.request.model': 'other' }, [1, 2]),
    both('client', 'c', model, [4, 5]),
    scope('client', span('d', model, { parentSpanId: idOf('f'), at: [1, 2] })),
    both('framework', 'a', asked, [0, 3]),
  );
  expect(others.counts).toEqual({ stored: 4, rejected: 0, filtered: {} });
});

describe('a tool call of several spans', () => {
  const tool = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'weather' };
  const rpc = { ...tool, 'mcp.method.name': 'tools/call' };

  test('the spans of the client and of the server of MCP are part of that of the agent', () => {
    const result = { 'gen_ai.tool.call.result': '{"celsius":21}', 'fastmcp.server.name': 'weather' };
    const { events, counts } = mapRequests(
      scope('agent', span('a', { ...tool, 'gen_ai.tool.call.id': 'call_1' })),
      scope(
        'mcp',
        span('b', rpc, { parentSpanId: idOf('a') }),
        span('c', { ...rpc, ...result }, { parentSpanId: idOf('b') }),
        span('d', client, { parentSpanId: idOf('c') }),
      ),
    );
    expect(counts).toEqual({ stored: 2, rejected: 0, filtered: { merged: 2 } });
    expect(events).toMatchObject([
      {
        id: eventIdOf(traceId, idOf('a')),
        additionalProperties: { 'otel.merged_span_ids': [idOf('b'), idOf('c')].join() },
        properties: {
          tool: {
            name: 'weather',
            callId: 'call_1',
            output: { celsius: 21 },
            otel: { merged: [{}, { attributes: { 'fastmcp.server.name': 'weather' } }] },
          },
        },
      },
      { additionalProperties: { 'otel.parent_event_id': eventIdOf(traceId, idOf('a')) } },
    ]);
    expect(events[0].additionalProperties).not.toHaveProperty('otel.parent_event_id');
  });

  test('two libraries create a span each: the outer one has the input, the inner one the id of the call', () => {
    const outer = {
      'openinference.span.kind': 'TOOL',
      'tool.name': 'weather',
      'input.value': '{"city":"Bern"}',
    };
    const { events } = mapRequests(
      scope('openinference', span('a', outer)),
      scope('autogen', span('b', { ...tool, 'gen_ai.tool.call.id': 'call_1' }, { parentSpanId: idOf('a') })),
    );
    expect(events).toMatchObject([{ properties: { tool: { callId: 'call_1', input: { city: 'Bern' } } } }]);
    expect(events).toHaveLength(1);
  });

  test.each([
    ['of another tool', { ...rpc, 'gen_ai.tool.name': 'other' }, 2],
    ['of the same library', tool, 2],
    ['with another id', { ...rpc, 'gen_ai.tool.call.id': 'call_2' }, 2],
    ['of the same library with the same id', { ...tool, 'gen_ai.tool.call.id': 'call_1' }, 1],
  ])('a span below %s', (_, attributes, stored) => {
    const outer = span('a', { ...tool, 'gen_ai.tool.call.id': 'call_1' });
    const { counts } = mapRequests(scope('x', outer, span('b', attributes, { parentSpanId: idOf('a') })));
    expect(counts.stored).toBe(stored);
  });

  test('a span over MCP alone is a call', () => {
    expect(mapRequests(scope('mcp', span('a', rpc))).counts.stored).toBe(1);
  });
});

test('a refused call that two libraries name with and without the provider is one', () => {
  const refused = (letter: string, model: string) =>
    span(
      letter,
      { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': model, 'error.type': 'RateLimitError' },
      { parentSpanId: idOf('f'), status: { code: 2 } },
    );
  const { counts } = mapRequests(scope('x', refused('a', 'openai/gpt-x')), scope('y', refused('b', 'gpt-x')));
  expect(counts).toEqual({ stored: 1, rejected: 0, filtered: { merged: 1 } });
});
