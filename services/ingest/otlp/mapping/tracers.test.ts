import { expect, test } from 'vitest';
import { mapRequests, mapSpan } from '../../../../test/support/otlp/mapped-spans.ts';

/**
 * Spans in the formats of tracers that frameworks bring along: Haystack, AgentOps, AutoGen, LangSmith,
 * LiteLLM, traceAI.
 */

const call = { id: 'call_1', name: 'get_weather', arguments: '{"city":"Bern"}' };
const usage = {
  prompt_tokens: 20,
  completion_tokens: 7,
  total_tokens: 27,
  prompt_tokens_details: { cached_tokens: 8 },
  completion_tokens_details: { reasoning_tokens: 3 },
};

function haystackMessage(role: string, content: object, meta: object = {}) {
  return { role, meta, name: null, content: [content] };
}

test("Haystack's own tracing has the request and the replies of a generator", () => {
  const asked = [haystackMessage('system', { text: 'Be brief.' }), haystackMessage('user', { text: 'How?' })];
  const reply = haystackMessage(
    'assistant',
    { tool_call: { tool_name: call.name, arguments: { city: 'Bern' }, id: call.id, extra: null } },
    { model: 'gpt-4o-2025', index: 0, finish_reason: 'tool_calls', usage },
  );
  const { events, counts } = mapRequests({
    spans: [
      {
        spanId: '00000000000000a1',
        attributes: {
          'haystack.component.type': 'OpenAIChatGenerator',
          'haystack.component.input': JSON.stringify({ messages: asked, tools: null }),
          'haystack.component.output': JSON.stringify({ replies: [reply] }),
        },
      },
      {
        spanId: '00000000000000a2',
        attributes: {
          'haystack.component.type': 'OpenAIGenerator',
          'haystack.component.input': '{"prompt":"How?","system_prompt":"Be brief."}',
          'haystack.component.output': JSON.stringify({
            replies: ['Mild.'],
            meta: [{ model: 'gpt-4o-2025', finish_reason: 'stop', usage: null }],
          }),
        },
      },
      { spanId: '00000000000000a3', attributes: { 'haystack.component.type': 'ChatPromptBuilder' } },
    ],
  });
  const input = { system: 'Be brief.', prompt: 'How?' };
  expect(counts.filtered).toEqual({ not_genai: 1 });
  expect(events.map(({ properties }) => properties.llm)).toMatchObject([
    {
      model: 'gpt-4o-2025',
      input: { ...input, messages: asked },
      output: { mode: 'tool_calls', toolCalls: [call], finishReason: 'tool_calls' },
      usage: {
        inputTokens: 20,
        inputTokenDetails: { cacheReadTokens: 8 },
        outputTokens: 7,
        outputTokenDetails: { reasoningTokens: 3 },
      },
    },
    { model: 'gpt-4o-2025', input, output: { response: 'Mild.', finishReason: 'stop' } },
  ]);
});

test('what Python prints for a message replaces neither messages nor tool calls without an id', () => {
  const { input, output } = mapSpan({
    attributes: {
      'openinference.span.kind': 'LLM',
      'llm.input_messages.0.message.role': 'user',
      'llm.input_messages.0.message.content': 'How?',
      'llm.input_messages.1.message.role': 'assistant',
      'input.value': JSON.stringify({
        messages: ["ChatMessage(_role=<ChatRole.USER: 'user'>)", 'ChatMessage()'],
      }),
      'llm.output_messages.0.message.role': 'assistant',
      'llm.output_messages.0.message.tool_calls.0.tool_call.function.name': call.name,
      'llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments': call.arguments,
      'output.value': JSON.stringify({ replies: ["ChatMessage(_content=[ToolCall(id='call_1')])"] }),
    },
  }).properties.llm;
  expect(input).toMatchObject({ prompt: 'How?' });
  expect(output).toMatchObject({
    mode: 'tool_calls',
    toolCalls: [{ name: call.name, arguments: call.arguments }],
  });
  expect(output).not.toHaveProperty('response');
});

test('AgentOps names the kinds of spans and requests in attributes of its own', () => {
  const { events, counts } = mapRequests({
    spans: [
      {
        spanId: '00000000000000a1',
        name: 'planner.agent',
        attributes: { 'agentops.span.kind': 'agent', 'operation.name': 'planner' },
      },
      {
        spanId: '00000000000000b2',
        parentSpanId: '00000000000000a1',
        status: { code: 2, message: 'Bad model.' },
        attributes: {
          'gen_ai.request.type': 'chat',
          'gen_ai.request.model': 'none',
          'gen_ai.prompt.0.role': 'user',
          'gen_ai.prompt.0.content': 'How?',
          'gen_ai.request.functions.0.name': 'get_weather',
          'gen_ai.request.functions.0.parameters': '{"type":"object"}',
        },
      },
      {
        spanId: '00000000000000c3',
        parentSpanId: '00000000000000a1',
        name: 'get_weather.tool',
        attributes: {
          'agentops.span.kind': 'tool',
          'operation.name': 'get_weather',
          'agentops.tool.input': '{"args": [], "kwargs": {"city": "Bern"}}',
          'agentops.tool.output': '{"celsius": 21}',
        },
      },
      {
        spanId: '00000000000000d4',
        parentSpanId: '00000000000000a1',
        attributes: {
          'gen_ai.request.type': 'embedding',
          'gen_ai.response.model': 'emb',
          'gen_ai.usage.prompt_tokens': 3,
        },
      },
    ],
  });
  const context = { agentId: 'planner' };
  expect(counts.filtered).toEqual({ agent: 1, embeddings: 1 });
  expect(events).toMatchObject([
    {
      context,
      status: { state: 'error', error: { message: 'Bad model.' } },
      properties: {
        llm: {
          model: 'none',
          input: { prompt: 'How?', tools: [{ name: 'get_weather', parameters: { type: 'object' } }] },
        },
      },
    },
    {
      context,
      properties: { tool: { name: 'get_weather', input: { city: 'Bern' }, output: { celsius: 21 } } },
    },
  ]);
});

test('the agent of AutoGen is the name of its span without the method', () => {
  const { events } = mapRequests({
    spans: ['planner.on_messages_stream', 'planner.run_stream'].flatMap((name, index) => [
      { spanId: `00000000000000a${index}`, name, attributes: { 'openinference.span.kind': 'AGENT' } },
      {
        spanId: `00000000000000b${index}`,
        parentSpanId: `00000000000000a${index}`,
        attributes: { 'openinference.span.kind': 'TOOL' },
      },
    ]),
  });
  expect(events.map(({ context }) => context.agentId)).toEqual(['planner', 'planner']);
});

test("a call that LangSmith records as failed has the provider, the exception's class and no response", () => {
  const event = mapSpan({
    status: { code: 2, message: "BadRequestError('Error code: 400 - Bad model.')" },
    events: [{ name: 'exception', attributes: { 'exception.type': 'Exception' } }],
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.system': 'langchain',
      'langsmith.metadata.ls_provider': 'openai',
      'gen_ai.request.model': 'none',
      'gen_ai.prompt': '{"messages":[{"role":"user","content":"How?"}]}',
      'gen_ai.completion': '{"output":null}',
    },
  });
  expect(event.instrumentation.source).toBe('openai');
  expect(event.status.error).toMatchObject({ code: 'BadRequestError' });
  expect(event.properties.llm.input).toMatchObject({ prompt: 'How?' });
  expect(event.properties.llm).not.toHaveProperty('output');
});

test('JSON without values is a response all the same', () => {
  const completion = '{"city":null}';
  const { llm } = mapSpan({
    attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.completion': completion },
  }).properties;
  expect(llm.output).toMatchObject({ response: completion });
});

test('the model of the response and the names of tools come from whichever attribute has them', () => {
  const { llm } = mapSpan({
    attributes: {
      'openinference.span.kind': 'LLM',
      'llm.model_name': 'gpt-4o',
      'gen_ai.response.model': 'gpt-4o-2025',
      'llm.tools.0.tool.name': 'get_weather',
      'llm.tools.0.tool.description': 'Weather',
      'llm.tools.0.tool.json_schema': '{"type":"object","properties":{}}',
    },
  }).properties;
  expect(llm.model).toBe('gpt-4o-2025');
  const parameters = { type: 'object', properties: {} };
  expect(llm.input.tools).toEqual([{ name: 'get_weather', description: 'Weather', parameters }]);
});

test('a span with the requested model only describes the same call as one with the model of the response', () => {
  const spans = [
    {
      spanId: '00000000000000a1',
      attributes: {
        'llm.request.type': 'chat',
        'gen_ai.request.model': 'mistral-x',
        'gen_ai.response.model': 'mistral-x-2025',
        'gen_ai.usage.input_tokens': 20,
        'gen_ai.usage.output_tokens': 7,
      },
    },
  ];
  const own = {
    spanId: '00000000000000b2',
    attributes: {
      'gen_ai.request.model': 'mistral-x',
      'gen_ai.usage.prompt_tokens': 20,
      'gen_ai.usage.output_tokens': 7,
    },
  };
  const { events } = mapRequests({ scope: { name: 'a' }, spans }, { scope: { name: 'b' }, spans: [own] });
  expect(events).toMatchObject([{ properties: { llm: { model: 'mistral-x-2025' } } }]);
});

test('LiteLLM has tool calls beside the text, and counts as Python prints them', () => {
  const printed = (details: string) =>
    `{'completion_tokens': 7, 'prompt_tokens': 20, 'completion_tokens_details': {'reasoning_tokens': 3}, ${details}}`;
  const attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.output.messages': '[{"role":"assistant","parts":[{"type":"text","content":"I look."}]}]',
    'gen_ai.response.finish_reasons': '["tool_calls"]',
    'gen_ai.completion.0.function_call.name': call.name,
    'gen_ai.completion.0.function_call.arguments': call.arguments,
    'gen_ai.usage.input_tokens': 20,
    'gen_ai.usage.output_tokens': 7,
    'metadata.usage_object': printed(
      "'prompt_tokens_details': {'cached_tokens': 8}, 'cache_read_input_tokens': 8",
    ),
  };
  const { output, usage: counts } = mapSpan({ attributes }).properties.llm;
  expect(output).toMatchObject({
    mode: 'tool_calls',
    response: 'I look.',
    toolCalls: [{ name: call.name, arguments: call.arguments }],
  });
  expect(counts).toMatchObject({
    inputTokens: 20,
    inputTokenDetails: { cacheReadTokens: 8 },
    outputTokenDetails: { reasoningTokens: 3 },
  });
  const answered = { ...attributes, 'gen_ai.response.finish_reasons': '["stop"]' };
  expect(mapSpan({ attributes: answered }).properties.llm.output).not.toHaveProperty('toolCalls');
});

test('spans that repeat the usage of a call, or are an event of it, are no calls', () => {
  const usageOfCall = {
    'gen_ai.response.model': 'gpt-4o',
    'gen_ai.usage.input_tokens': 20,
    'gen_ai.usage.output_tokens': 7,
    'gen_ai.usage.thinking_tokens': 3,
  };
  const { events, counts } = mapRequests({
    spans: [
      {
        spanId: '00000000000000a1',
        attributes: { ...usageOfCall, 'ag2.span.type': 'llm', 'gen_ai.operation.name': 'chat' },
      },
      { spanId: '00000000000000a2', attributes: { ...usageOfCall, 'ag2.span.type': 'usage' } },
      {
        spanId: '00000000000000b1',
        status: { code: 2, message: 'Bad model.' },
        attributes: {
          'openinference.span.kind': 'LLM',
          'llm.model_name': 'gpt-4o',
          'metadata.class_name': 'OpenAIChatModel',
        },
      },
      {
        spanId: '00000000000000b2',
        parentSpanId: '00000000000000b1',
        status: { code: 1 },
        attributes: { 'openinference.span.kind': 'LLM', 'metadata.path': 'backend.openai.chat.error' },
      },
    ],
  });
  expect(counts).toMatchObject({ stored: 2, filtered: { not_genai: 2 } });
  expect(events).toMatchObject([
    { properties: { llm: { usage: { outputTokenDetails: { reasoningTokens: 3 } } } } },
    { status: { state: 'error', error: { message: 'Bad model.' } } },
  ]);
});

test('MLflow sends requests, responses and tools as JSON text', () => {
  const json = JSON.stringify;
  const asked = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'How?' },
  ];
  const toolCalls = [
    { id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } },
  ];
  const message = { role: 'assistant', content: null, tool_calls: toolCalls };
  const below = { parentSpanId: '00000000000000a1' };
  const { events, counts } = mapRequests({
    spans: [
      { spanId: '00000000000000a1', name: 'planner', attributes: { 'mlflow.spanType': '"AGENT"' } },
      {
        ...below,
        spanId: '00000000000000b2',
        attributes: {
          'mlflow.spanType': '"CHAT_MODEL"',
          'mlflow.spanInputs': json({ model: 'gpt-4o', messages: asked }),
          'mlflow.llm.model': '"gpt-4o-2025"',
          'mlflow.llm.provider': '"openai"',
          'mlflow.chat.tools': json([{ type: 'function', function: { name: call.name } }]),
          'mlflow.chat.tokenUsage':
            '{"input_tokens":20,"output_tokens":7,"total_tokens":27,"cache_read_input_tokens":8}',
          'mlflow.spanOutputs': json({
            id: 'chatcmpl-1',
            choices: [{ finish_reason: 'tool_calls', message }],
            usage,
          }),
        },
      },
      {
        ...below,
        spanId: '00000000000000c3',
        name: 'get_weather',
        attributes: {
          'mlflow.spanType': '"TOOL"',
          'mlflow.spanInputs': '{"city":"Bern"}',
          'mlflow.spanOutputs': '"Mild."',
        },
      },
      {
        ...below,
        spanId: '00000000000000d4',
        attributes: {
          'mlflow.spanType': '"LLM"',
          'mlflow.spanInputs': json({ model: 'gpt-4o', messages: asked }),
          'mlflow.spanOutputs': '"<anthropic.Stream object at 0x7f04808bfad0>"',
        },
      },
      { ...below, spanId: '00000000000000e5', attributes: { 'mlflow.spanType': '"EMBEDDING"' } },
    ],
  });
  const context = { agentId: 'planner' };
  expect(counts).toMatchObject({ stored: 3, filtered: { agent: 1, embeddings: 1 } });
  expect(events).toMatchObject([
    {
      context,
      instrumentation: { source: 'openai' },
      properties: {
        llm: {
          model: 'gpt-4o-2025',
          responseId: 'chatcmpl-1',
          input: { system: 'Be brief.', prompt: 'How?', tools: [{ function: { name: call.name } }] },
          output: { mode: 'tool_calls', toolCalls: [call], finishReason: 'tool_calls' },
          usage: {
            inputTokens: 20,
            inputTokenDetails: { cacheReadTokens: 8 },
            outputTokenDetails: { reasoningTokens: 3 },
            totalTokens: 27,
          },
        },
      },
    },
    { context, properties: { tool: { name: call.name, input: { city: 'Bern' }, output: 'Mild.' } } },
    { context, properties: { llm: { model: 'gpt-4o', input: { prompt: 'How?' } } } },
  ]);
  expect(events[2].properties.llm).not.toHaveProperty('output');
});

test('the arguments of a tool over MCP are its input', () => {
  const attributes = {
    'traceloop.span.kind': 'tool',
    'traceloop.entity.input': '{"tool_name":"get_weather","arguments":{"city":"Bern"}}',
  };
  expect(mapSpan({ attributes }).properties.tool.input).toEqual({ city: 'Bern' });
});

test('traceAI numbers the messages, and names the model of a stream or a refused call in the parameters', () => {
  const kind = { 'gen_ai.span.kind': 'LLM' };
  const asked = {
    'input.value': 'Be brief.',
    'gen_ai.input.messages.0.message.role': 'system',
    'gen_ai.input.messages.0.message.content': 'Be brief.',
    'gen_ai.input.messages.1.message.role': 'user',
    'gen_ai.input.messages.1.message.content': 'How warm?',
  };
  const toolCall = 'gen_ai.output.messages.0.message.tool_calls.0.tool_call';
  const { events, nodes } = mapRequests({
    spans: [
      {
        spanId: '00000000000000a1',
        attributes: {
          ...kind,
          ...asked,
          'output.value': 'Function: get_weather({"city":"Bern"})',
          'gen_ai.output.messages.0.message.role': 'assistant',
          [`${toolCall}.id`]: call.id,
          [`${toolCall}.function.name`]: call.name,
          [`${toolCall}.function.arguments`]: call.arguments,
          'gen_ai.request.model': 'gpt-4o',
          'gen_ai.usage.input_tokens': 20,
          'gen_ai.usage.input_tokens.cache_read': 8,
          'gen_ai.usage.output_tokens': 7,
          'gen_ai.cost.total': 0.5,
        },
      },
      {
        spanId: '00000000000000a2',
        attributes: { ...kind, ...asked, 'gen_ai.request.parameters': '{"model": "gpt-4o", "stream": true}' },
        status: { code: 2, message: 'RateLimitError: Error code: 429' },
      },
      {
        spanId: '00000000000000a3',
        attributes: { 'gen_ai.span.kind': 'TOOL', 'gen_ai.tool.name': 'get_weather', 'output.value': '21' },
      },
      { spanId: '00000000000000a4', attributes: { 'gen_ai.span.kind': 'CHAIN', 'input.value': 'How?' } },
    ],
  });
  const input = { system: 'Be brief.', prompt: 'How warm?' };
  expect(events.map(({ status, properties }) => ({ state: status.state, ...properties }))).toMatchObject([
    {
      state: 'ok',
      llm: {
        model: 'gpt-4o',
        input,
        output: { toolCalls: [call] },
        usage: { inputTokens: 20, inputTokenDetails: { cacheReadTokens: 8 }, outputTokens: 7 },
        cost: { total: 0.5 },
      },
    },
    { state: 'error', llm: { model: 'gpt-4o', input } },
    { state: 'ok', tool: { name: 'get_weather', output: '21' } },
  ]);
  expect(nodes.flatMap((json) => JSON.parse(json)).map(({ kind: of }) => of)).toEqual([
    ...['llm', 'llm', 'tool', 'chain'],
  ]);
});
