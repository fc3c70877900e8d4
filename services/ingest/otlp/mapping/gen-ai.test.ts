import { describe, expect, test } from 'vitest';
import { mapSpan } from '../../../../test/support/otlp/mapped-spans.ts';

/** The current GenAI semantic conventions, and the attributes and events of their older versions. */

const messages = [{ role: 'user', parts: [{ type: 'text', content: 'How warm is it in Bern?' }] }];
const answer = [
  {
    role: 'assistant',
    parts: [
      { type: 'reasoning', content: 'I need the weather.' },
      { type: 'text', content: 'I look it up.' },
      { type: 'tool_call', id: 'call_1', name: 'get_weather', arguments: { city: 'Bern' } },
    ],
    finish_reason: 'tool_call',
  },
];
const definitions = [{ type: 'function', name: 'get_weather', parameters: { type: 'object' } }];

/** The attributes of a call from the Anthropic SDK and `@ai-sdk/otel`. */
const chat = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': 'anthropic',
  'gen_ai.request.model': 'claude-sonnet',
  'gen_ai.response.model': 'claude-sonnet-4-5',
  'gen_ai.response.id': 'msg_1',
  'gen_ai.response.finish_reasons': ['tool_use'],
  'gen_ai.response.time_to_first_chunk': 0.25,
  'gen_ai.request.max_tokens': 100,
  'gen_ai.system_instructions': JSON.stringify([{ type: 'text', content: 'Be brief.' }]),
  'gen_ai.input.messages': JSON.stringify(messages),
  'gen_ai.output.messages': JSON.stringify(answer),
  'gen_ai.tool.definitions': JSON.stringify(definitions),
  'gen_ai.usage.input_tokens': 55,
  'gen_ai.usage.cache_read.input_tokens': 30,
  'gen_ai.usage.cache_write.input_tokens': 5,
  'gen_ai.usage.output_tokens': 7,
  'gen_ai.usage.reasoning.output_tokens': 3,
  'gen_ai.conversation.id': 'thread-1',
  'gen_ai.agent.id': 'agent-1',
  'gen_ai.agent.name': 'weather',
  'user.id': 'user-1',
};

const { 'gen_ai.response.finish_reasons': _, ...withoutReasons } = chat;

const llm = {
  model: 'claude-sonnet-4-5',
  input: { system: 'Be brief.', prompt: 'How warm is it in Bern?', messages, tools: definitions },
  output: {
    mode: 'tool_calls',
    response: 'I look it up.',
    reasoning: 'I need the weather.',
    toolCalls: [{ id: 'call_1', name: 'get_weather', arguments: '{"city":"Bern"}' }],
    messages: answer,
    finishReason: 'tool_calls',
  },
  usage: {
    inputTokens: 55,
    inputTokenDetails: { uncachedTokens: 20, cacheReadTokens: 30, cacheWriteTokens: 5 },
    outputTokens: 7,
    outputTokenDetails: { reasoningTokens: 3, responseTokens: 4 },
    totalTokens: 62,
  },
  responseId: 'msg_1',
  timeToFirstChunkMs: 250,
};

describe('the current conventions', () => {
  test('a model call is an LLM event with all fields', () => {
    const event = mapSpan(
      { attributes: chat },
      { resource: { 'service.name': 'agents' }, scope: { name: 'anthropic-sdk', version: '1.12.0' } },
    );
    expect(event).toMatchObject({
      type: 'llm',
      traceId: '0af76519-16cd-43dd-8448-eb211c80319c',
      startTimeMs: 1_760_000_000_000.123,
      endTimeMs: 1_760_000_001_250.623,
      durationMs: 1250.500001,
      status: { state: 'ok' },
      instrumentation: { vendor: 'weir', source: 'anthropic', sourcePackage: 'anthropic-sdk' },
      context: { threadId: 'thread-1', agentId: 'weather', userId: 'user-1' },
      additionalProperties: {
        'otel.trace_id': '0af7651916cd43dd8448eb211c80319c',
        'otel.span_id': 'b7ad6b7169203331',
        'service.name': 'agents',
      },
    });
    const { otel, ...mapped } = event.properties.llm;
    expect(mapped).toEqual(llm);
    expect(otel).toMatchObject({
      name: 'chat gpt-4o',
      kind: 3,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': 'claude-sonnet',
        'gen_ai.request.max_tokens': 100,
        'gen_ai.agent.id': 'agent-1',
      },
      scope: { name: 'anthropic-sdk', version: '1.12.0' },
      resource: { attributes: { 'service.name': 'agents' } },
    });
  });

  test('messages may be structured attributes instead of JSON text', () => {
    const event = mapSpan({
      attributes: {
        ...chat,
        'gen_ai.input.messages': messages,
        'gen_ai.output.messages': answer,
        'gen_ai.system_instructions': [{ type: 'text', content: 'Be brief.' }],
        'gen_ai.tool.definitions': definitions,
      },
    });
    const { otel, ...mapped } = event.properties.llm;
    expect(mapped).toEqual(llm);
  });

  test('a tool call is a tool event', () => {
    const event = mapSpan({
      name: 'execute_tool get_weather',
      kind: 1,
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'get_weather',
        'gen_ai.tool.call.id': 'call_1',
        'gen_ai.tool.type': 'function',
        'gen_ai.tool.call.arguments': '{"city":"Bern","station":9007199254740993}',
        'gen_ai.tool.call.result': { celsius: 21.5 },
      },
    });
    expect(event.type).toBe('tool');
    const { otel, ...tool } = event.properties.tool;
    expect(tool).toMatchObject({
      name: 'get_weather',
      callId: 'call_1',
      input: { city: 'Bern' },
      output: { celsius: 21.5 },
    });
    expect(otel.attributes).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.type': 'function',
    });
  });

  test("Anthropic's own SDK: tool results and the finish reason are in its own attributes", () => {
    const content = [{ type: 'text', text: '{"celsius":21}' }];
    const tool = mapSpan({
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'get_weather',
        'anthropic.tool_result.content': JSON.stringify(content),
      },
    });
    expect(tool.properties.tool).toMatchObject({ name: 'get_weather', output: content });
    const call = mapSpan({ attributes: { ...withoutReasons, 'anthropic.message.stop_reason': 'end_turn' } });
    expect(call.properties.llm.output.finishReason).toBe('stop');
    expect(call.properties.llm.otel.attributes).toHaveProperty('anthropic.message.stop_reason', 'end_turn');
  });

  test('a failed call has the error of the span', () => {
    const { status } = mapSpan({
      status: { code: 2, message: '429 Slow down.' },
      attributes: {
        'gen_ai.operation.name': 'chat',
        'error.type': 'rate_limit_error',
        'http.response.status_code': 429,
      },
    });
    expect(status).toEqual({
      state: 'error',
      error: { code: 'rate_limit_error', httpStatus: 429, message: '429 Slow down.' },
    });
  });

  test('an error without a status or a message is described by its type and its exception', () => {
    const refused = mapSpan({ attributes: { 'gen_ai.operation.name': 'chat', 'error.type': '429' } });
    expect(refused.status).toEqual({ state: 'error', error: { code: '429', httpStatus: 429 } });
    const ofType = mapSpan({ attributes: { 'gen_ai.operation.name': 'chat', 'error.type': 'timeout' } });
    expect(ofType.status).toEqual({ state: 'error', error: { code: 'timeout' } });
    const exception = {
      name: 'exception',
      attributes: { 'exception.type': 'RateLimitError', 'exception.message': 'Slow down.' },
    };
    const ofException = mapSpan({
      status: { code: 2 },
      attributes: { 'gen_ai.operation.name': 'chat' },
      events: [exception],
    });
    expect(ofException.status.error).toEqual({ code: 'RateLimitError', message: 'Slow down.' });
    expect(ofException.properties.llm.otel.events).toMatchObject([exception]);
    // A handled exception: the status of the span is not an error.
    const handled = mapSpan({ attributes: { 'gen_ai.operation.name': 'chat' }, events: [exception] });
    expect(handled.status).toEqual({ state: 'ok' });
  });
});

describe('older conventions', () => {
  test('usage by its old names', () => {
    const event = mapSpan({
      attributes: {
        'gen_ai.operation.name': 'text_completion',
        'gen_ai.system': 'openai',
        'gen_ai.request.model': 'gpt-3.5-turbo-instruct',
        'gen_ai.usage.prompt_tokens': 12,
        'gen_ai.usage.completion_tokens': 3,
      },
    });
    expect(event.instrumentation.source).toBe('openai');
    expect(event.properties.llm).toMatchObject({
      model: 'gpt-3.5-turbo-instruct',
      usage: { inputTokens: 12, outputTokens: 3, totalTokens: 15 },
    });
  });

  test('messages in events of the span; the events keep their time', () => {
    const event = mapSpan({
      attributes: { 'gen_ai.operation.name': 'chat' },
      events: [
        { name: 'gen_ai.system.message', attributes: { 'gen_ai.system': 'openai', content: 'Be brief.' } },
        { name: 'gen_ai.user.message', attributes: { content: 'How warm is it in Bern?' } },
        {
          name: 'gen_ai.choice',
          attributes: {
            index: 0,
            finish_reason: 'stop',
            message: '{"role":"assistant","content":"It is 21 °C."}',
          },
        },
        { name: 'something else', attributes: { content: 'x' } },
      ],
    });
    expect(event.properties.llm).toMatchObject({
      input: {
        system: 'Be brief.',
        prompt: 'How warm is it in Bern?',
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'How warm is it in Bern?' },
        ],
      },
      output: { mode: 'text', response: 'It is 21 °C.', finishReason: 'stop' },
    });
    expect(event.properties.llm.otel.events).toEqual([
      {
        name: 'gen_ai.system.message',
        timeUnixNano: expect.any(Number),
        attributes: { 'gen_ai.system': 'openai' },
      },
      { name: 'gen_ai.user.message', timeUnixNano: expect.any(Number) },
      { name: 'gen_ai.choice', timeUnixNano: expect.any(Number) },
      { name: 'something else', timeUnixNano: expect.any(Number), attributes: { content: 'x' } },
    ]);
  });

  test('messages in one event, as JSON', () => {
    const event = mapSpan({
      attributes: { 'gen_ai.operation.name': 'chat' },
      events: [
        {
          name: 'gen_ai.content.prompt',
          attributes: { 'gen_ai.prompt': '[{"role":"user","content":"How warm?"}]' },
        },
        { name: 'gen_ai.content.completion', attributes: { 'gen_ai.completion': 'It is 21 °C.' } },
      ],
    });
    expect(event.properties.llm).toMatchObject({
      input: { prompt: 'How warm?' },
      output: { response: 'It is 21 °C.' },
    });
  });
});

describe('usage', () => {
  test('cached tokens that exceed the input are added to it', () => {
    const { usage } = mapSpan({
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.usage.input_tokens': 20,
        'gen_ai.usage.cache_read_input_tokens': 30,
        'gen_ai.usage.cache_creation_input_tokens': 5,
        'gen_ai.usage.output_tokens': 7,
      },
    }).properties.llm;
    expect(usage).toEqual({
      inputTokens: 55,
      inputTokenDetails: { uncachedTokens: 20, cacheReadTokens: 30, cacheWriteTokens: 5 },
      outputTokens: 7,
      totalTokens: 62,
    });
  });

  test('a span without usage has none', () => {
    const { llm: payload } = mapSpan({ attributes: { 'gen_ai.operation.name': 'chat' } }).properties;
    expect(Object.keys(payload)).toEqual(['otel']);
  });
});

const startNs = 1_767_225_600_000_000_000n;
test.each([
  ['seconds', { 'gen_ai.latency.time_to_first_token': 0.25 }, []],
  ['milliseconds of Strands', { 'gen_ai.server.time_to_first_token': 250 }, []],
  ['a time of Langfuse', { 'langfuse.observation.completion_start_time': '"2026-01-01T00:00:00.250Z"' }, []],
  ['an event of OpenInference', {}, [{ name: 'First Token Stream Event', timeNs: startNs + 250_000_000n }]],
] as const)('the time to the first token from %s', (_name, attributes, events) => {
  const { 'gen_ai.response.time_to_first_chunk': _time, ...others } = chat;
  const event = mapSpan({
    startNs,
    endNs: startNs + 10n ** 9n,
    attributes: { ...others, ...attributes },
    events: [...events],
  });
  expect(event.properties.llm.timeToFirstChunkMs).toBe(250);
});
