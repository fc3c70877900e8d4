import { expect, test } from 'vitest';
import { mapRequests, mapSpan } from '../../../../test/support/otlp/mapped-spans.ts';

/** Spans in the formats of Sentry, Spring AI and Semantic Kernel for .NET. */

const call = { id: 'call_1', name: 'get_weather', arguments: '{"city":"Bern"}' };
const called = { id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } };
const tool = { type: 'function', function: { name: 'get_weather' } };
const asked = JSON.stringify([{ role: 'user', content: 'How warm?' }]);

test('Sentry has texts and tool calls of a response in attributes of their own', () => {
  const { events } = mapRequests({
    spans: [
      {
        spanId: '00000000000000a1',
        attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.function_id': 'planner' },
      },
      {
        spanId: '00000000000000b2',
        parentSpanId: '00000000000000a1',
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.request.model': 'gpt-4o',
          'gen_ai.request.messages': asked,
          'gen_ai.request.available_tools': JSON.stringify([tool]),
          'gen_ai.response.text': '["It is ","mild."]',
          'gen_ai.response.tool_calls': JSON.stringify([called]),
          'gen_ai.usage.input_tokens': 20,
          'gen_ai.usage.input_tokens.cached': 8,
          'gen_ai.usage.output_tokens': 7,
          'gen_ai.usage.output_tokens.reasoning': 3,
        },
      },
      {
        spanId: '00000000000000c3',
        parentSpanId: '00000000000000a1',
        attributes: {
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': 'get_weather',
          'gen_ai.tool.input': '{"city":"Bern"}',
          'gen_ai.tool.output': '{"celsius":21}',
        },
      },
    ],
  });
  expect(events).toMatchObject([
    {
      context: { agentId: 'planner' },
      properties: {
        llm: {
          input: { prompt: 'How warm?', tools: [tool] },
          output: { response: 'It is mild.', toolCalls: [call] },
          usage: {
            inputTokenDetails: { cacheReadTokens: 8 },
            outputTokenDetails: { reasoningTokens: 3 },
            totalTokens: 27,
          },
        },
      },
    },
    { properties: { tool: { name: 'get_weather', input: { city: 'Bern' }, output: { celsius: 21 } } } },
  ]);
  expect(
    mapSpan({ attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.response.text': '[""]' } }),
  ).toEqual(
    expect.objectContaining({
      properties: { llm: expect.not.objectContaining({ output: expect.anything() }) },
    }),
  );
});

test('Spring AI sends numbers as text, names tools in its own attributes, and the conversation on its client', () => {
  const { events, counts } = mapRequests({
    spans: [
      {
        spanId: '00000000000000a1',
        attributes: {
          'gen_ai.operation.name': 'framework',
          'gen_ai.system': 'spring_ai',
          'spring.ai.kind': 'chat_client',
          'spring.ai.chat.client.conversation.id': 'thread-1',
        },
      },
      {
        spanId: '00000000000000b2',
        parentSpanId: '00000000000000a1',
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.system': 'openai',
          'gen_ai.response.model': 'gpt-4o',
          'gen_ai.response.finish_reasons': '["STOP"]',
          'gen_ai.usage.input_tokens': '20',
          'gen_ai.usage.output_tokens': '7',
          'gen_ai.usage.total_tokens': '27',
        },
        events: [
          { name: 'gen_ai.content.prompt', attributes: { 'gen_ai.prompt': ['How warm?'] } },
          { name: 'gen_ai.content.completion', attributes: { 'gen_ai.completion': ['Mild.'] } },
        ],
      },
      {
        spanId: '00000000000000c3',
        parentSpanId: '00000000000000a1',
        name: 'tool_call get_weather',
        attributes: {
          'gen_ai.operation.name': 'framework',
          'spring.ai.kind': 'tool_call',
          'spring.ai.tool.definition.name': 'get_weather',
          'spring.ai.tool.call.id': 'call_1',
          'spring.ai.tool.call.arguments': '{"city":"Bern"}',
          'spring.ai.tool.call.result': '{"celsius":21}',
        },
      },
    ],
  });
  expect(counts).toMatchObject({ stored: 2, filtered: { not_genai: 1 } });
  expect(events).toMatchObject([
    {
      context: { threadId: 'thread-1' },
      properties: {
        llm: {
          input: { prompt: 'How warm?' },
          output: { response: 'Mild.', finishReason: 'stop' },
          usage: { inputTokens: 20, outputTokens: 7, totalTokens: 27 },
        },
      },
    },
    {
      context: { threadId: 'thread-1' },
      properties: {
        tool: { name: 'get_weather', callId: 'call_1', input: { city: 'Bern' }, output: { celsius: 21 } },
      },
    },
  ]);
});

test('Semantic Kernel for .NET names operations and tokens in its own way, also of refused calls', () => {
  const attributes = { 'gen_ai.operation.name': 'chat.completions', 'gen_ai.request.model': 'gpt-4o' };
  const { events } = mapRequests({
    spans: [
      {
        attributes: {
          ...attributes,
          'gen_ai.response.prompt_tokens': 20,
          'gen_ai.response.completion_tokens': 7,
        },
        events: [{ name: 'gen_ai.content.prompt', attributes: { 'gen_ai.prompt': asked } }],
      },
      { spanId: '00000000000000b2', attributes: { ...attributes, 'error.type': 'HttpOperationException' } },
    ],
  });
  expect(events).toMatchObject([
    { properties: { llm: { input: { prompt: 'How warm?' }, usage: { totalTokens: 27 } } } },
    { status: { state: 'error', error: { code: 'HttpOperationException' } } },
  ]);
});
