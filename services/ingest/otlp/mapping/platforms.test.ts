import { expect, test } from 'vitest';
import { mapRequests, mapSpan } from '../../../../test/support/otlp/mapped-spans.ts';

/**
 * Spans in the formats of SDKs that send to a platform of their own: LangWatch, Laminar, Langfuse 3, Logfire.
 */

const call = { id: 'call_1', name: 'get_weather', arguments: '{"city":"Bern"}' };
const tool = { type: 'function', function: { name: 'get_weather' } };
const asked = [{ role: 'user', content: 'How warm?' }];
const answer = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } }],
};
const typed = (type: string, value: unknown) => JSON.stringify({ type, value });

test("LangWatch's JavaScript sends tokens in one object only", () => {
  const event = mapSpan({
    attributes: {
      'langwatch.span.type': 'llm',
      'gen_ai.request.model': 'gpt-4o',
      'langwatch.metrics': '{"type":"json","value":{"promptTokens":20,"completionTokens":7,"cost":0.1}}',
    },
  });
  expect(event).toMatchObject({
    properties: { llm: { usage: { inputTokens: 20, outputTokens: 7, totalTokens: 27 } } },
  });
});

test('LangWatch names the type of each value', () => {
  const { events } = mapRequests({
    spans: [
      {
        spanId: '00000000000000a1',
        name: 'planner',
        attributes: {
          'langwatch.span.type': 'agent',
          metadata: '{"thread_id":"thread-1","user_id":"user-1"}',
        },
      },
      {
        spanId: '00000000000000b2',
        parentSpanId: '00000000000000a1',
        name: 'llm',
        attributes: {
          'langwatch.span.type': 'llm',
          'langwatch.input': typed('chat_messages', asked),
          'langwatch.output': typed('chat_messages', [answer]),
          'langwatch.params': JSON.stringify({ tools: [tool] }),
          'langwatch.metrics': '{"prompt_tokens":20,"completion_tokens":7,"reasoning_tokens":3}',
          'gen_ai.request.model': 'openai/gpt-4o',
          'gen_ai.usage.prompt_tokens': 20,
          'gen_ai.usage.completion_tokens': 7,
        },
      },
      {
        spanId: '00000000000000c3',
        parentSpanId: '00000000000000a1',
        name: 'get_weather',
        attributes: {
          'langwatch.span.type': 'tool',
          'langwatch.input': typed('json', { city: 'Bern' }),
          'langwatch.output': typed('text', 'Mild.'),
        },
      },
      {
        spanId: '00000000000000d4',
        parentSpanId: '00000000000000a1',
        name: 'llm',
        status: { code: 2, message: '' },
        attributes: {
          'langwatch.span.type': 'llm',
          'langwatch.input': typed('text', 'How warm?'),
          'gen_ai.request.model': 'openai/none',
        },
      },
    ],
  });
  const context = { agentId: 'planner', threadId: 'thread-1', userId: 'user-1' };
  expect(events).toMatchObject([
    {
      context,
      properties: {
        llm: {
          input: { prompt: 'How warm?', messages: asked, tools: [tool] },
          output: { mode: 'tool_calls', toolCalls: [call] },
          usage: { inputTokens: 20, outputTokens: 7, outputTokenDetails: { reasoningTokens: 3 } },
        },
      },
    },
    { context, properties: { tool: { name: 'get_weather', input: { city: 'Bern' }, output: 'Mild.' } } },
    {
      status: { state: 'error' },
      properties: { llm: { model: 'openai/none', input: { prompt: 'How warm?' } } },
    },
  ]);
});

test('Genkit: a model and a tool below a flow', () => {
  const request = {
    messages: [
      { role: 'system', content: [{ text: 'Be brief.' }] },
      { role: 'user', content: [{ text: 'How warm?' }] },
    ],
  };
  const tools = [{ name: 'get_weather', description: 'Weather', inputSchema: { type: 'object' } }];
  const toolRequest = { name: call.name, ref: call.id, input: { city: 'Bern' } };
  const action = (subtype: string, name: string, input: unknown, output?: unknown) => ({
    'genkit:type': 'action',
    'genkit:metadata:subtype': subtype,
    'genkit:name': name,
    'genkit:input': JSON.stringify(input),
    ...(output !== undefined && { 'genkit:output': JSON.stringify(output) }),
  });
  const response = {
    finishReason: 'stop',
    message: { role: 'model', content: [{ text: 'I look it up.' }, { toolRequest }] },
    usage: { inputTokens: 20, inputCharacters: 90, outputTokens: 7, totalTokens: 27, thoughtsTokens: 3 },
    raw: { id: 'chatcmpl-1', model: 'gpt-4o-2024' },
  };
  const { events, counts } = mapRequests({
    spans: [
      {
        spanId: '00000000000000a1',
        name: 'planner',
        attributes: action('flow', 'planner', 'How warm?', 'Mild.'),
      },
      {
        spanId: '00000000000000b2',
        parentSpanId: '00000000000000a1',
        attributes: action('model', 'openai/gpt-4o', { ...request, tools, config: {} }, response),
      },
      {
        spanId: '00000000000000c3',
        parentSpanId: '00000000000000a1',
        attributes: action('tool', 'get_weather', { city: 'Bern' }, { celsius: 21 }),
      },
      {
        spanId: '00000000000000d4',
        parentSpanId: '00000000000000a1',
        status: { code: 2, message: 'INVALID_ARGUMENT' },
        attributes: action('model', 'openai/none', request),
      },
    ],
  });
  expect(counts).toMatchObject({ stored: 3, rejected: 0 });
  expect(events).toMatchObject([
    {
      properties: {
        llm: {
          model: 'openai/gpt-4o',
          responseId: 'chatcmpl-1',
          input: { system: 'Be brief.', prompt: 'How warm?', messages: request.messages, tools },
          output: { response: 'I look it up.', toolCalls: [call], finishReason: 'stop' },
          usage: {
            inputTokens: 20,
            outputTokens: 7,
            outputTokenDetails: { reasoningTokens: 3 },
            totalTokens: 27,
          },
        },
      },
    },
    {
      type: 'tool',
      properties: { tool: { name: 'get_weather', input: { city: 'Bern' }, output: { celsius: 21 } } },
    },
    {
      status: { state: 'error' },
      properties: { llm: { model: 'openai/none', input: { prompt: 'How warm?' } } },
    },
  ]);
});

test("Anthropic's parts of the tokens that were written to the cache are counted once", () => {
  const raw = {
    input_tokens: 12,
    cache_creation_input_tokens: 5,
    cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 0 },
    cache_read_input_tokens: 8,
    output_tokens: 7,
  };
  const usageOf = (attributes: Record<string, string | number>) =>
    mapSpan({ attributes: { 'gen_ai.operation.name': 'chat', ...attributes } }).properties.llm.usage;
  const expected = {
    inputTokens: 25,
    inputTokenDetails: { uncachedTokens: 12, cacheReadTokens: 8, cacheWriteTokens: 5 },
    outputTokens: 7,
    totalTokens: 32,
  };
  const sent = { 'gen_ai.usage.input_tokens': 25, 'gen_ai.usage.output_tokens': 7 };
  expect(usageOf({ ...sent, 'gen_ai.usage.raw': JSON.stringify(raw) })).toEqual(expected);
  expect(usageOf({ 'output.value': JSON.stringify({ id: 'msg_1', model: 'claude', usage: raw }) })).toEqual(
    expected,
  );
});

test('Laminar: a tool with its session, user and metadata', () => {
  const event = mapSpan({
    name: 'get_weather',
    attributes: {
      'lmnr.span.type': 'TOOL',
      'lmnr.span.input': '{"city":"Bern"}',
      'lmnr.span.output': '{"celsius":21}',
      'lmnr.association.properties.session_id': 'thread-1',
      'lmnr.association.properties.user_id': 'user-1',
      'lmnr.association.properties.metadata.plan': 'pro',
      'lmnr.association.properties.tags': ['eu'],
    },
  });
  expect(event).toMatchObject({
    type: 'tool',
    context: { threadId: 'thread-1', userId: 'user-1' },
    additionalProperties: { plan: 'pro', tags: 'eu' },
    properties: { tool: { name: 'get_weather', input: { city: 'Bern' }, output: { celsius: 21 } } },
  });
});

test("Langfuse 3: a tool of LangChain has its arguments in the metadata, and Python's text of them as input", () => {
  const event = mapSpan({
    name: 'get_weather',
    attributes: {
      'langfuse.observation.type': 'tool',
      'langfuse.observation.input': "{'city': 'Bern'}",
      'langfuse.observation.metadata.inputs': '{"city":"Bern"}',
    },
  });
  expect(event.properties.tool).toMatchObject({
    input: { city: 'Bern' },
    otel: { attributes: { 'langfuse.observation.input': "{'city': 'Bern'}" } },
  });
});

test("details that have no attribute come from the provider's own counts", () => {
  const counts = {
    'openinference.span.kind': 'LLM',
    'llm.token_count.prompt': 20,
    'llm.token_count.completion': 7,
  };
  const usage = {
    prompt_tokens: 20,
    completion_tokens: 7,
    prompt_tokens_details: { cached_tokens: 8 },
    completion_tokens_details: { reasoning_tokens: 3 },
  };
  const expected = {
    inputTokens: 20,
    inputTokenDetails: { uncachedTokens: 12, cacheReadTokens: 8 },
    outputTokens: 7,
    outputTokenDetails: { reasoningTokens: 3, responseTokens: 4 },
    totalTokens: 27,
  };
  const output = JSON.stringify({ id: 'cmpl-1', model: 'mistral-small', choices: [], usage });
  expect(mapSpan({ attributes: { ...counts, 'output.value': output } }).properties.llm.usage).toEqual(
    expected,
  );
  const raw = { ...counts, 'gen_ai.usage.raw': JSON.stringify(usage) };
  expect(mapSpan({ attributes: raw }).properties.llm.usage).toEqual(expected);
  // What the sender says about a detail stays.
  const own = { ...raw, 'llm.token_count.prompt_details.cache_read': 5 };
  expect(mapSpan({ attributes: own }).properties.llm.usage.inputTokenDetails).toEqual({
    uncachedTokens: 15,
    cacheReadTokens: 5,
  });
});

test('the system prompt comes from the request if the messages have none', () => {
  const systemOf = (request: unknown) =>
    mapSpan({
      attributes: {
        'openinference.span.kind': 'LLM',
        'llm.input_messages.0.message.role': 'user',
        'llm.input_messages.0.message.content': 'How warm?',
        'input.value': JSON.stringify(request),
      },
    }).properties.llm.input.system;
  expect(systemOf({ system: 'Be brief.', messages: asked })).toBe('Be brief.');
  expect(systemOf({ system: [{ type: 'text', text: 'Be brief.' }], messages: asked })).toBe('Be brief.');
  expect(systemOf({ messages: [{ role: 'user', content: '"system": "no"' }] })).toBeUndefined();
});

test('an input without the cached tokens is recognised by the total', () => {
  const usageOf = (total: number, reasoning?: number) =>
    mapSpan({
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.usage.input_tokens': 12,
        'gen_ai.usage.cache_read.input_tokens': 8,
        'gen_ai.usage.output_tokens': 7,
        'gen_ai.usage.total_tokens': total,
        ...(reasoning !== undefined && { 'gen_ai.usage.reasoning_tokens': reasoning }),
      },
    }).properties.llm.usage;
  expect(usageOf(27)).toMatchObject({
    inputTokens: 20,
    inputTokenDetails: { uncachedTokens: 12 },
    totalTokens: 27,
  });
  expect(usageOf(19)).toMatchObject({ inputTokens: 12, inputTokenDetails: { uncachedTokens: 4 } });
  // The total may include reasoning tokens that the output does not.
  expect(usageOf(27, 8)).toMatchObject({ inputTokens: 12 });
});

test('an empty id of a tool call is none', () => {
  const parts = [{ type: 'tool_call', id: '', name: call.name, arguments: { city: 'Bern' } }];
  const event = mapSpan({
    attributes: {
      'gen_ai.operation.name': 'generate_content',
      'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts }]),
    },
  });
  expect(event.properties.llm.output.toolCalls).toEqual([{ name: call.name, arguments: call.arguments }]);
});

test('Claude Code names the type of each span, and counts tokens as Anthropic does', () => {
  const { events } = mapRequests({
    spans: [
      { spanId: '00000000000000a1', attributes: { 'span.type': 'interaction', 'session.id': 'thread-1' } },
      {
        spanId: '00000000000000b2',
        parentSpanId: '00000000000000a1',
        attributes: {
          'span.type': 'llm_request',
          'gen_ai.request.model': 'claude-x',
          input_tokens: 12,
          output_tokens: 30,
          cache_read_tokens: 8,
          cache_creation_tokens: 0,
          ttft_ms: 44,
        },
      },
      {
        spanId: '00000000000000c3',
        parentSpanId: '00000000000000a1',
        attributes: { 'span.type': 'llm_request', 'gen_ai.request.model': 'claude-x', status_code: 400 },
        status: { code: 2, message: 'Bad model.' },
      },
      {
        spanId: '00000000000000d4',
        parentSpanId: '00000000000000a1',
        attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'Bash' },
        events: [{ name: 'tool.output', attributes: { bash_command: 'ls', output: 'README.md' } }],
      },
      {
        spanId: '00000000000000e5',
        parentSpanId: '00000000000000d4',
        attributes: { 'span.type': 'tool.execution', 'gen_ai.tool.call.id': 'toolu_1' },
      },
    ],
  });
  expect(events).toMatchObject([
    {
      type: 'llm',
      context: { threadId: 'thread-1' },
      properties: {
        llm: {
          usage: {
            inputTokens: 20,
            inputTokenDetails: { uncachedTokens: 12, cacheReadTokens: 8, cacheWriteTokens: 0 },
            outputTokens: 30,
            totalTokens: 50,
          },
          timeToFirstChunkMs: 44,
        },
      },
    },
    { type: 'llm', status: { state: 'error', error: { httpStatus: 400, message: 'Bad model.' } } },
    { type: 'tool', properties: { tool: { name: 'Bash', output: 'README.md' } } },
  ]);
});

test('spans of Gemini CLI are no calls: its log records have more of them', () => {
  const { events } = mapRequests({
    spans: [
      { attributes: { 'gen_ai.operation.name': 'llm_call', 'gen_ai.request.model': 'gemini-x' } },
      {
        spanId: '00000000000000b2',
        attributes: { 'gen_ai.operation.name': 'tool_call', 'gen_ai.tool.name': 'read_file' },
      },
    ],
  });
  expect(events).toEqual([]);
});

test("VoltAgent's spans have the type of the span, and name the agent of the run", () => {
  const common = { 'user.id': 'user-1', 'conversation.id': 'thread-1', 'entity.type': 'agent' };
  const { events } = mapRequests({
    spans: [
      { spanId: '00000000000000a1', attributes: { ...common, 'entity.name': 'planner' } },
      {
        spanId: '00000000000000b2',
        parentSpanId: '00000000000000a1',
        name: 'llm:generateText',
        attributes: {
          ...common,
          'span.type': 'llm',
          'llm.model': 'gpt-4o',
          'llm.messages': JSON.stringify(asked),
          'llm.usage.prompt_tokens': 20,
          'llm.usage.completion_tokens': 7,
          'llm.usage.cached_tokens': 8,
          'llm.usage.reasoning_tokens': 3,
          'llm.finish_reason': 'stop',
        },
      },
      {
        spanId: '00000000000000c3',
        parentSpanId: '00000000000000a1',
        name: 'tool.execution:get_weather',
        attributes: {
          ...common,
          'span.type': 'tool',
          'tool.name': 'get_weather',
          'tool.call.id': 'call_1',
          input: '{"city":"Bern"}',
          output: '{"celsius":21}',
        },
      },
      {
        spanId: '00000000000000d4',
        parentSpanId: '00000000000000a1',
        name: 'memory.read',
        attributes: { ...common, 'span.type': 'memory', input: '{}', output: '[]' },
      },
    ],
  });
  expect(events).toMatchObject([
    {
      type: 'llm',
      context: { threadId: 'thread-1', userId: 'user-1', agentId: 'planner' },
      properties: {
        llm: {
          model: 'gpt-4o',
          input: { prompt: 'How warm?' },
          output: { finishReason: 'stop' },
          usage: {
            inputTokenDetails: { cacheReadTokens: 8 },
            outputTokenDetails: { reasoningTokens: 3 },
            totalTokens: 27,
          },
        },
      },
    },
    {
      type: 'tool',
      context: { agentId: 'planner' },
      properties: {
        tool: { name: 'get_weather', callId: 'call_1', input: { city: 'Bern' }, output: { celsius: 21 } },
      },
    },
  ]);
});

test('OpenLLMetry for LangChain in JavaScript sends the class of a tool, and arguments and parts of messages as JSON text', () => {
  const result = { content: '{"celsius":21}', tool_call_id: 'call_1', name: 'get_weather' };
  const { events } = mapRequests({
    spans: [
      {
        attributes: {
          'gen_ai.operation.name': 'execute_tool',
          'traceloop.span.kind': 'task',
          'traceloop.entity.name': 'DynamicStructuredTool',
          'traceloop.entity.input': '{"args":["{\\"city\\":\\"Bern\\"}"]}',
          'traceloop.entity.output': JSON.stringify({ lc: 1, kwargs: result }),
        },
      },
      {
        spanId: '00000000000000b2',
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.input.messages': JSON.stringify([
            {
              role: 'system',
              parts: [{ type: 'text', content: JSON.stringify([{ type: 'text', text: 'Be brief.' }]) }],
            },
          ]),
        },
      },
    ],
  });
  expect(events).toMatchObject([
    {
      properties: {
        tool: { name: 'get_weather', callId: 'call_1', input: { city: 'Bern' }, output: { celsius: 21 } },
      },
    },
    { properties: { llm: { input: { system: 'Be brief.' } } } },
  ]);
});

test("OpenInference for the AI SDK quotes a tool call's arguments once more", () => {
  const event = mapSpan({
    attributes: {
      'openinference.span.kind': 'LLM',
      'llm.output_messages.0.message.role': 'assistant',
      'llm.output_messages.0.message.tool_calls.0.tool_call.id': 'call_1',
      'llm.output_messages.0.message.tool_calls.0.tool_call.function.name': 'get_weather',
      'llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments': JSON.stringify(
        call.arguments,
      ),
    },
  });
  expect(event).toMatchObject({ properties: { llm: { output: { toolCalls: [call] } } } });
});

test("Langfuse's wrapper of OpenAI's responses sends instructions and tools as metadata", () => {
  const event = mapSpan({
    attributes: {
      'langfuse.observation.type': 'generation',
      'langfuse.observation.input': 'How warm?',
      'langfuse.observation.metadata.instructions': 'Be brief.',
      'langfuse.observation.metadata.tools': JSON.stringify([tool]),
      'langfuse.trace.tags': '',
    },
  });
  expect(event).toMatchObject({
    properties: { llm: { input: { system: 'Be brief.', prompt: 'How warm?', tools: [tool] } } },
  });
  expect(Object.keys(event.additionalProperties)).not.toContain('instructions');
  expect(Object.keys(event.additionalProperties)).not.toContain('tags');
});

test("Cloudflare's gateway sends the request and the response as JSON, those of its own models in an envelope", () => {
  const gateway = {
    'gen_ai.request.model': '@cf/meta/llama-4',
    'gen_ai.model.provider': 'workers-ai',
    'gen_ai.usage.input_tokens': 20,
    'gen_ai.usage.output_tokens': 7,
    'gen_ai.prompt_json': JSON.stringify({ messages: asked }),
  };
  const envelope = { result: { response: 'Mild.', tool_calls: [] }, success: true, errors: [], messages: [] };
  const read = (completion: unknown) =>
    mapSpan({ attributes: { ...gateway, 'gen_ai.completion_json': JSON.stringify(completion) } });
  for (const completion of [envelope, { choices: [{ message: { role: 'assistant', content: 'Mild.' } }] }])
    expect(read(completion)).toMatchObject({
      instrumentation: { source: 'workers-ai' },
      properties: {
        llm: {
          model: '@cf/meta/llama-4',
          input: { prompt: 'How warm?', messages: asked },
          output: { response: 'Mild.' },
        },
      },
    });
  const { choices, result } = { choices: [{ message: answer }], result: { response: null, ...answer } };
  for (const completion of [{ choices }, { result: { choices }, success: true }, { result, success: true }])
    expect(read(completion).properties.llm.output.toolCalls).toEqual([call]);
});

test("Braintrust's spans have their kind, input, output and model as JSON", () => {
  const llm = mapSpan({
    attributes: {
      'braintrust.span_attributes': '{"type":"llm","name":"Chat Completion"}',
      'braintrust.input_json': JSON.stringify(asked),
      'braintrust.output_json': JSON.stringify([{ finish_reason: 'tool_calls', index: 0, message: answer }]),
      'braintrust.metadata': '{"model":"gpt-4o","temperature":0}',
    },
  });
  expect(llm).toMatchObject({
    type: 'llm',
    properties: {
      llm: {
        model: 'gpt-4o',
        input: { prompt: 'How warm?' },
        output: { toolCalls: [call] },
      },
    },
  });
  const ofTool = {
    'braintrust.span_attributes': '{"type":"tool"}',
    'braintrust.input_json': '{"city":"Bern"}',
    'braintrust.output_json': '{"celsius":21}',
  };
  expect(mapSpan({ name: 'get_weather', attributes: ofTool })).toMatchObject({
    type: 'tool',
    properties: { tool: { name: 'get_weather', input: { city: 'Bern' }, output: { celsius: 21 } } },
  });
});
