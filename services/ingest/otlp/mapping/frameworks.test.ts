import { describe, expect, test } from 'vitest';
import { mapRequests, mapSpan } from '../../../../test/support/otlp/mapped-spans.ts';

/** Spans in the formats of OpenInference, OpenLLMetry, Vercel's AI SDK and Langfuse. */

const call = { id: 'call_1', name: 'get_weather', arguments: '{"city":"Bern","station":9007199254740993}' };
const tool = { type: 'function', function: { name: 'get_weather', parameters: { type: 'object' } } };

describe('OpenInference', () => {
  const request = JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'How warm?' }] });
  const attributes = {
    'openinference.span.kind': 'LLM',
    'llm.model_name': 'gpt-4o-2024-08-06',
    'llm.system': 'openai',
    'llm.provider': 'azure',
    'llm.invocation_parameters': '{"temperature":0.2}',
    'input.value': request,
    'input.mime_type': 'application/json',
    'llm.input_messages.0.message.role': 'system',
    'llm.input_messages.0.message.content': 'Be brief.',
    'llm.input_messages.1.message.role': 'user',
    'llm.input_messages.1.message.contents.0.message_content.type': 'text',
    'llm.input_messages.1.message.contents.0.message_content.text': 'How warm?',
    'llm.tools.0.tool.json_schema': JSON.stringify(tool),
    'llm.output_messages.0.message.role': 'assistant',
    'llm.output_messages.0.message.contents.0.message_content.type': 'text',
    'llm.output_messages.0.message.contents.0.message_content.text': 'I look it up.',
    'llm.output_messages.0.message.contents.1.message_content.type': 'tool_use',
    'llm.output_messages.0.message.contents.1.tool_call.id': call.id,
    'llm.output_messages.0.message.contents.1.tool_call.function.name': call.name,
    'llm.output_messages.0.message.tool_calls.0.tool_call.id': call.id,
    'llm.output_messages.0.message.tool_calls.0.tool_call.function.name': call.name,
    'llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments': call.arguments,
    'llm.finish_reason': 'tool_calls',
    'llm.token_count.prompt': 20,
    'llm.token_count.prompt_details.cache_read': 8,
    'llm.token_count.completion': 7,
    'llm.token_count.completion_details.reasoning': 3,
    'llm.token_count.total': 27,
    'session.id': 'thread-1',
    'user.id': 'user-1',
  };

  test('a call of a model', () => {
    const event = mapSpan({ name: 'OpenAI Chat Completions', attributes });
    expect(event).toMatchObject({
      type: 'llm',
      instrumentation: { source: 'azure' },
      context: { threadId: 'thread-1', userId: 'user-1' },
    });
    const { otel, ...llm } = event.properties.llm;
    expect(llm).toMatchObject({
      model: 'gpt-4o-2024-08-06',
      input: { system: 'Be brief.', prompt: 'How warm?', tools: [tool] },
      output: {
        mode: 'tool_calls',
        response: 'I look it up.',
        toolCalls: [{ id: call.id, name: call.name }],
        finishReason: 'tool_calls',
      },
      usage: {
        inputTokens: 20,
        inputTokenDetails: { uncachedTokens: 12, cacheReadTokens: 8 },
        outputTokens: 7,
        outputTokenDetails: { reasoningTokens: 3, responseTokens: 4 },
        totalTokens: 27,
      },
    });
    expect(llm.input.messages[1]).toEqual({
      message: { role: 'user', contents: [{ message_content: { type: 'text', text: 'How warm?' } }] },
    });
    expect(otel.attributes).toEqual({
      'openinference.span.kind': 'LLM',
      'llm.system': 'openai',
      'llm.invocation_parameters': '{"temperature":0.2}',
      'input.value': request,
      'input.mime_type': 'application/json',
    });
  });

  test('a failed call has the requested model', () => {
    const event = mapSpan({
      status: { code: 2, message: '400' },
      attributes: {
        'openinference.span.kind': 'LLM',
        'llm.invocation_parameters': '{"model":"gpt-4o","temperature":0.2}',
      },
    });
    expect(event.properties.llm.model).toBe('gpt-4o');
    const unknown = { 'openinference.span.kind': 'LLM', 'llm.invocation_parameters': '{"model":3}' };
    expect(mapSpan({ attributes: unknown }).properties.llm).not.toHaveProperty('model');
  });

  test('a call whose messages are only in its request', () => {
    const event = mapSpan({
      attributes: {
        'openinference.span.kind': 'LLM',
        'input.value': request,
        'output.value': JSON.stringify({
          id: 'chatcmpl-1',
          choices: [{ index: 0, message: { role: 'assistant', content: 'It is 21 °C.' } }],
        }),
      },
    });
    expect(event.properties.llm).toMatchObject({
      input: { prompt: 'How warm?' },
      output: { mode: 'text', response: 'It is 21 °C.' },
      otel: { attributes: { 'input.value': request } },
    });
  });

  test('a tool call below an agent run', () => {
    const { events } = mapRequests({
      spans: [
        {
          spanId: '00000000000000a1',
          name: 'planner',
          attributes: { 'openinference.span.kind': 'AGENT', 'llm.token_count.prompt': 500 },
        },
        {
          spanId: '00000000000000b2',
          parentSpanId: '00000000000000a1',
          name: 'ToolRunner',
          attributes: {
            'openinference.span.kind': 'TOOL',
            'tool.name': 'get_weather',
            'tool.id': 'call_1',
            'input.value': '{"city":"Bern"}',
            'output.value': 'It is 21 °C.',
          },
        },
      ],
    });
    expect(events).toMatchObject([
      {
        type: 'tool',
        context: { agentId: 'planner' },
        properties: {
          tool: { name: 'get_weather', callId: 'call_1', input: { city: 'Bern' }, output: 'It is 21 °C.' },
        },
      },
    ]);
  });

  test('retrievers, chains and embeddings are not events', () => {
    const kinds = ['CHAIN', 'RETRIEVER', 'RERANKER', 'EMBEDDING', 'GUARDRAIL'];
    const { counts } = mapRequests({
      spans: kinds.map((kind, index) => ({
        spanId: `000000000000000${index + 1}`,
        attributes: { 'openinference.span.kind': kind, 'llm.model_name': 'm', 'llm.token_count.prompt': 1 },
      })),
    });
    expect(counts).toEqual({ stored: 0, rejected: 0, filtered: { not_genai: 4, embeddings: 1 } });
  });
});

describe('OpenLLMetry', () => {
  test('a call with numbered messages', () => {
    const event = mapSpan({
      name: 'openai.chat',
      attributes: {
        'llm.request.type': 'chat',
        'gen_ai.system': 'OpenAI',
        'gen_ai.request.model': 'gpt-4o',
        'gen_ai.response.model': 'gpt-4o-2024-08-06',
        'gen_ai.prompt.0.role': 'system',
        'gen_ai.prompt.0.content': 'Be brief.',
        'gen_ai.prompt.1.role': 'user',
        'gen_ai.prompt.1.content': '[{"type":"text","text":"How warm?"},{"type":"image_url","image_url":{}}]',
        'llm.request.functions.0.name': 'get_weather',
        'llm.request.functions.0.description': 'Weather',
        'llm.request.functions.0.parameters': '{"type":"object"}',
        'gen_ai.completion.0.role': 'assistant',
        'gen_ai.completion.0.finish_reason': 'tool_calls',
        'gen_ai.completion.0.tool_calls.0.id': call.id,
        'gen_ai.completion.0.tool_calls.0.name': call.name,
        'gen_ai.completion.0.tool_calls.0.arguments': call.arguments,
        'gen_ai.usage.prompt_tokens': 20,
        'gen_ai.usage.completion_tokens': 7,
        'llm.usage.total_tokens': 27,
        'traceloop.association.properties.session_id': 'thread-1',
        'traceloop.association.properties.user_id': 'user-1',
        'traceloop.association.properties.plan': 'pro',
        'traceloop.workflow.name': 'weather',
      },
    });
    expect(event).toMatchObject({
      type: 'llm',
      instrumentation: { source: 'OpenAI' },
      context: { threadId: 'thread-1', userId: 'user-1' },
      additionalProperties: { plan: 'pro' },
    });
    const { otel, ...llm } = event.properties.llm;
    expect(llm).toMatchObject({
      model: 'gpt-4o-2024-08-06',
      input: {
        system: 'Be brief.',
        prompt: 'How warm?',
        tools: [{ name: 'get_weather', description: 'Weather', parameters: { type: 'object' } }],
      },
      output: { mode: 'tool_calls', toolCalls: [call], finishReason: 'tool_calls' },
      usage: { inputTokens: 20, outputTokens: 7, totalTokens: 27 },
    });
    expect(otel.attributes).toEqual({
      'llm.request.type': 'chat',
      'gen_ai.request.model': 'gpt-4o',
      'traceloop.workflow.name': 'weather',
    });
  });

  test('a tool call; tasks and workflows are not events', () => {
    const entity = (kind: string, spanId: string) => ({
      spanId,
      name: `get_weather.${kind}`,
      attributes: {
        'traceloop.span.kind': kind,
        'traceloop.entity.name': 'get_weather',
        'traceloop.entity.input': '{"args":[],"kwargs":{"city":"Bern"}}',
        'traceloop.entity.output': '21',
      },
    });
    const { events, counts } = mapRequests({
      spans: ['workflow', 'task', 'agent', 'tool'].map((kind, index) =>
        entity(kind, `000000000000000${index + 1}`),
      ),
    });
    expect(events).toMatchObject([
      {
        type: 'tool',
        properties: {
          tool: { name: 'get_weather', input: { city: 'Bern' }, output: '21' },
        },
      },
    ]);
    expect(counts.filtered).toEqual({ not_genai: 2, agent: 1 });
  });
});

describe("Vercel's AI SDK", () => {
  const around = {
    'ai.operationId': 'ai.generateText',
    'ai.model.id': 'gpt-4o',
    'ai.model.provider': 'openai.chat',
    'ai.usage.inputTokens': 40,
    'ai.usage.outputTokens': 14,
  };
  const step = {
    'operation.name': 'ai.generateText.doGenerate weather-agent',
    'ai.operationId': 'ai.generateText.doGenerate',
    'ai.telemetry.functionId': 'weather-agent',
    'ai.telemetry.metadata.userId': 'user-1',
    'ai.telemetry.metadata.sessionId': 'thread-1',
    'ai.telemetry.metadata.plan': 'pro',
    'ai.model.provider': 'openai.chat',
    'ai.model.id': 'gpt-4o',
    'ai.prompt.messages': JSON.stringify([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'How warm?' }] },
    ]),
    'ai.prompt.tools': [JSON.stringify(tool)],
    'gen_ai.system': 'openai.chat',
    'gen_ai.request.model': 'gpt-4o',
    'ai.response.finishReason': 'tool-calls',
    'ai.response.text': 'I look it up.',
    'ai.response.toolCalls':
      '[{"toolCallId":"call_1","toolName":"get_weather","input":{"city":"Bern","station":9007199254740993}}]',
    'ai.response.id': 'chatcmpl-1',
    'ai.response.model': 'gpt-4o-2024-08-06',
    'ai.response.msToFirstChunk': 81.5,
    'ai.usage.inputTokens': 20,
    'ai.usage.cachedInputTokens': 8,
    'ai.usage.outputTokens': 7,
    'ai.usage.reasoningTokens': 3,
    'ai.usage.totalTokens': 27,
  };

  test('a step is an event; the sum of the steps is not', () => {
    const { events, counts } = mapRequests({
      spans: [
        { spanId: '00000000000000a1', name: 'ai.generateText', attributes: around },
        {
          spanId: '00000000000000b2',
          parentSpanId: '00000000000000a1',
          name: 'ai.generateText.doGenerate',
          attributes: step,
        },
      ],
    });
    expect(counts).toEqual({ stored: 1, rejected: 0, filtered: { aggregate: 1 } });
    expect(events).toMatchObject([
      {
        type: 'llm',
        instrumentation: { source: 'openai' },
        context: { threadId: 'thread-1', userId: 'user-1', agentId: 'weather-agent' },
        additionalProperties: { plan: 'pro' },
        properties: {
          llm: {
            model: 'gpt-4o-2024-08-06',
            input: { system: 'Be brief.', prompt: 'How warm?', tools: [tool] },
            output: {
              mode: 'tool_calls',
              response: 'I look it up.',
              toolCalls: [call],
              finishReason: 'tool_calls',
            },
            usage: {
              inputTokens: 20,
              inputTokenDetails: { uncachedTokens: 12, cacheReadTokens: 8 },
              outputTokens: 7,
              outputTokenDetails: { reasoningTokens: 3, responseTokens: 4 },
              totalTokens: 27,
            },
            responseId: 'chatcmpl-1',
            timeToFirstChunkMs: 81.5,
          },
        },
      },
    ]);
    expect(events[0].additionalProperties).not.toHaveProperty('userId');
  });

  test('a response that is an object is JSON', () => {
    const event = mapSpan({
      attributes: {
        'ai.operationId': 'ai.streamObject.doStream',
        'ai.response.object': '{"celsius":21}',
      },
    });
    expect(event.properties.llm.output).toEqual({ mode: 'json', response: '{"celsius":21}' });
  });

  test('a call of a tool', () => {
    const event = mapSpan({
      name: 'ai.toolCall',
      attributes: {
        'ai.operationId': 'ai.toolCall',
        'ai.toolCall.name': 'get_weather',
        'ai.toolCall.id': 'call_1',
        'ai.toolCall.args': '{"city":"Bern"}',
        'ai.toolCall.result': '{"celsius":21}',
      },
    });
    expect(event.properties.tool).toMatchObject({
      name: 'get_weather',
      callId: 'call_1',
      input: { city: 'Bern' },
      output: { celsius: 21 },
    });
  });
});

describe('Langfuse', () => {
  test('a generation, whose counts exclude each other', () => {
    const event = mapSpan({
      name: 'OpenAI.chat',
      attributes: {
        'langfuse.observation.type': 'generation',
        'langfuse.observation.input': JSON.stringify({
          messages: [
            { role: 'system', content: 'Be brief.' },
            { role: 'user', content: 'How warm?' },
          ],
          tools: [tool],
        }),
        'langfuse.observation.model.name': 'gpt-4o-2024-08-06',
        'langfuse.observation.model.parameters': '{"temperature":0.2}',
        'langfuse.observation.output': JSON.stringify({
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } },
          ],
        }),
        'langfuse.observation.usage_details':
          '{"input":12,"output":4,"total":27,"input_cached_tokens":8,"output_reasoning_tokens":3}',
        'langfuse.observation.metadata.plan': 'pro',
        'session.id': 'thread-1',
        'user.id': 'user-1',
      },
    });
    expect(event).toMatchObject({
      type: 'llm',
      context: { threadId: 'thread-1', userId: 'user-1' },
      additionalProperties: { plan: 'pro' },
      properties: {
        llm: {
          model: 'gpt-4o-2024-08-06',
          input: { system: 'Be brief.', prompt: 'How warm?', tools: [tool] },
          output: { mode: 'tool_calls', toolCalls: [call] },
          usage: {
            inputTokens: 20,
            inputTokenDetails: { uncachedTokens: 12, cacheReadTokens: 8 },
            outputTokens: 7,
            outputTokenDetails: { reasoningTokens: 3, responseTokens: 4 },
            totalTokens: 27,
          },
        },
      },
    });
  });

  test('a generation that failed', () => {
    const event = mapSpan({
      attributes: {
        'langfuse.observation.type': 'generation',
        'langfuse.observation.input': 'How warm?',
        'langfuse.observation.level': 'ERROR',
        'langfuse.observation.status_message': 'Error: 429 Slow down.',
      },
    });
    expect(event.status).toEqual({ state: 'error', error: { message: 'Error: 429 Slow down.' } });
    expect(event.properties.llm.input).toEqual({ prompt: 'How warm?' });
  });

  test('a tool; agents, spans and embeddings are not events', () => {
    const { events, counts } = mapRequests({
      spans: ['tool', 'agent', 'span', 'embedding'].map((type, index) => ({
        spanId: `000000000000000${index + 1}`,
        name: 'get_weather',
        attributes: {
          'langfuse.observation.type': type,
          'langfuse.observation.input': '{"city":"Bern"}',
          'langfuse.observation.output': '{"celsius":21}',
        },
      })),
    });
    expect(events).toMatchObject([
      { properties: { tool: { name: 'get_weather', input: { city: 'Bern' }, output: { celsius: 21 } } } },
    ]);
    expect(counts.filtered).toEqual({ agent: 1, not_genai: 1, embeddings: 1 });
  });
});
