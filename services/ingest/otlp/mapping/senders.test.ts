import { describe, expect, test } from 'vitest';
import { mapRequests, mapSpan } from '../../../../test/support/otlp/mapped-spans.ts';

/** Formats of single senders that follow no convention. */

const chat = { 'gen_ai.operation.name': 'chat' };

test('LangSmith: messages that LangChain serialized, and its metadata', () => {
  const message = (kind: string, kwargs: object) => ({
    lc: 1,
    type: 'constructor',
    id: ['langchain', 'schema', 'messages', kind],
    kwargs,
  });
  const answer = message('AIMessage', {
    content: 'I look it up.',
    tool_calls: [{ id: 'call_1', name: 'get_weather', args: { city: 'Bern' }, type: 'tool_call' }],
  });
  const event = mapSpan({
    attributes: {
      'langsmith.span.kind': 'llm',
      'gen_ai.prompt': JSON.stringify({
        messages: [
          [
            message('SystemMessage', { content: 'Be brief.' }),
            message('HumanMessage', { content: 'How warm?' }),
          ],
        ],
      }),
      'gen_ai.completion': JSON.stringify({
        generations: [[{ text: '', message: answer }]],
        llm_output: null,
      }),
      'langsmith.metadata.thread_id': 'thread-1',
      'langsmith.metadata.plan': '"pro"',
    },
  });
  expect(event).toMatchObject({
    context: { threadId: 'thread-1' },
    additionalProperties: { plan: 'pro' },
    properties: {
      llm: {
        input: { system: 'Be brief.', prompt: 'How warm?' },
        output: {
          response: 'I look it up.',
          toolCalls: [{ id: 'call_1', name: 'get_weather', arguments: '{"city":"Bern"}' }],
        },
      },
    },
  });
});

describe('Strands', () => {
  test("a model's answer in Bedrock's blocks", () => {
    const blocks = [
      { text: 'I look it up.' },
      { toolUse: { toolUseId: 'tooluse_1', name: 'get_weather', input: { city: 'Bern' } } },
    ];
    const event = mapSpan({
      attributes: chat,
      events: [
        { name: 'gen_ai.user.message', attributes: { content: '[{"text":"How warm?"}]' } },
        { name: 'gen_ai.choice', attributes: { message: JSON.stringify(blocks), finish_reason: 'tool_use' } },
      ],
    });
    expect(event.properties.llm).toMatchObject({
      input: { prompt: 'How warm?' },
      output: {
        response: 'I look it up.',
        toolCalls: [{ id: 'tooluse_1', name: 'get_weather', arguments: '{"city":"Bern"}' }],
        finishReason: 'tool_use',
      },
    });
  });

  test("a tool's arguments and result in events of its span", () => {
    const event = mapSpan({
      attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'get_weather' },
      events: [
        {
          name: 'gen_ai.tool.message',
          attributes: { role: 'tool', content: '{"city":"Bern"}', id: 'tooluse_1' },
        },
        { name: 'gen_ai.choice', attributes: { message: '[{"text":"21"}]', id: 'tooluse_1' } },
      ],
    });
    expect(event.properties.tool).toMatchObject({ input: { city: 'Bern' }, output: [{ text: '21' }] });
  });
});

test("Langfuse: the parts of OpenAI's nested counts are not added to the total", () => {
  const usageOf = (details: object) =>
    mapSpan({
      attributes: {
        'langfuse.observation.type': 'generation',
        'langfuse.observation.usage_details': JSON.stringify(details),
      },
    }).properties.llm.usage;
  const expected = {
    inputTokens: 20,
    inputTokenDetails: { uncachedTokens: 12, cacheReadTokens: 8 },
    outputTokens: 7,
    outputTokenDetails: { reasoningTokens: 3, responseTokens: 4 },
    totalTokens: 27,
  };
  const parts = [{ cached_tokens: 8, audio_tokens: 0 }, { reasoning_tokens: 3 }];
  const [input, output] = parts;
  expect(
    usageOf({
      prompt_tokens: 20,
      completion_tokens: 7,
      total_tokens: 27,
      prompt_tokens_details: input,
      completion_tokens_details: output,
    }),
  ).toEqual(expected);
  expect(
    usageOf({
      input_tokens: 20,
      output_tokens: 7,
      input_tokens_details: input,
      output_tokens_details: output,
    }),
  ).toEqual(expected);
});

test('OpenInference: metadata and tags are dimensions', () => {
  const event = mapSpan({
    attributes: {
      'openinference.span.kind': 'LLM',
      metadata: '{"plan":"pro","seats":5,"beta":true}',
      'tag.tags': ['eu', 'nightly'],
    },
  });
  expect(event.additionalProperties).toMatchObject({
    plan: 'pro',
    seats: 5,
    beta: 'true',
    tags: 'eu, nightly',
  });
  expect(event.properties.llm.otel.attributes).not.toHaveProperty('metadata');
});

test('the name of an agent is preferred to its id, which may be new for each run', () => {
  const attributes = { ...chat, 'gen_ai.agent.id': 'd6a1', 'gen_ai.agent.name': 'planner' };
  expect(mapSpan({ attributes }).context.agentId).toBe('planner');
});

test('a text that is sent in content and in contents is read once', () => {
  const event = mapSpan({
    attributes: {
      'openinference.span.kind': 'LLM',
      'llm.output_messages.0.message.role': 'assistant',
      'llm.output_messages.0.message.content': 'Mild.',
      'llm.output_messages.0.message.contents.0.message_content.type': 'text',
      'llm.output_messages.0.message.contents.0.message_content.text': 'Mild.',
    },
  });
  expect(event.properties.llm.output.response).toBe('Mild.');
});

test('finish reasons in JSON text', () => {
  const attributes = { ...chat, 'gen_ai.response.finish_reasons': '["stop"]' };
  expect(mapSpan({ attributes }).properties.llm.output.finishReason).toBe('stop');
});

test("Pydantic AI's reasoning tokens", () => {
  const attributes = {
    ...chat,
    'gen_ai.usage.input_tokens': 1,
    'gen_ai.usage.output_tokens': 5,
    'gen_ai.usage.details.reasoning_tokens': 4,
  };
  expect(mapSpan({ attributes }).properties.llm.usage.outputTokenDetails).toEqual({
    reasoningTokens: 4,
    responseTokens: 1,
  });
});

test("LlamaIndex's preparation of a request is not a call", () => {
  const { counts } = mapRequests({
    spans: [{ name: 'OpenAI._prepare_chat_with_tools', attributes: { 'openinference.span.kind': 'LLM' } }],
  });
  expect(counts).toEqual({ stored: 0, rejected: 0, filtered: { not_genai: 1 } });
});

test('the id of a tool call by its short name', () => {
  const attributes = { 'openinference.span.kind': 'TOOL', tool_call_id: 'call_1' };
  expect(mapSpan({ attributes }).properties.tool.callId).toBe('call_1');
});
