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
        finishReason: 'tool_calls',
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

test('Langfuse: counts with long names are read in linear time', () => {
  // Quadratic patterns take minutes for each of these names.
  const names = ['input', 'output'].map((word) => `${word.repeat(100_000)}.`);
  const details = { ...Object.fromEntries(names.map((name) => [name, 1])), input_tokens: 20 };
  const { usage } = mapSpan({
    attributes: {
      'langfuse.observation.type': 'generation',
      'langfuse.observation.usage_details': JSON.stringify(details),
    },
  }).properties.llm;
  expect(usage).toMatchObject({ inputTokens: 20 });
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

test("LlamaIndex's step of an agent names the agent of the call below it", () => {
  const setup = (user: string) =>
    `AgentSetup(input=[ChatMessage(role=<MessageRole.USER: 'user'>, blocks=[TextBlock(block_type='text', text=${user})])], current_agent_name='planner')`;
  const eventOf = (input: string) =>
    mapRequests({
      spans: [
        {
          spanId: '0000000000000001',
          name: 'BaseWorkflowAgent.run_agent_step',
          attributes: { 'openinference.span.kind': 'CHAIN', 'input.value': input },
        },
        {
          spanId: '0000000000000002',
          parentSpanId: '0000000000000001',
          name: 'OpenAI.astream_chat',
          attributes: { 'openinference.span.kind': 'LLM', 'llm.model_name': 'gpt-4o' },
        },
      ],
    }).events[0];
  const ctx = '<workflows.context.context.Context object at 0x7fa808e233d0>';
  // The text of a user does not name an agent.
  const forged = `"x, current_agent_name='forged')"`;
  expect(eventOf(JSON.stringify({ ctx, ev: setup(forged) })).context).toEqual({ agentId: 'planner' });
  expect(eventOf(JSON.stringify({ ctx, ev: `${setup(forged)}.` })).context).toEqual({});
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

describe('LangChain', () => {
  const result = { content: '{"celsius":21}', type: 'tool', name: 'get_weather', tool_call_id: 'call_1' };
  const id = ['langchain_core', 'messages', 'ToolMessage'];

  test.each([
    ['OpenInference for Python', { 'output.value': JSON.stringify({ type: 'tool', data: result }) }],
    [
      'OpenInference for JavaScript',
      { 'output.value': JSON.stringify({ output: { lc: 1, type: 'constructor', id, kwargs: result } }) },
    ],
    ['LangSmith', { 'gen_ai.completion': JSON.stringify({ output: result }) }],
    ['Langfuse', { 'langfuse.observation.output': JSON.stringify(result) }],
    [
      'OpenLLMetry',
      {
        'gen_ai.tool.call.result': JSON.stringify({
          output: { lc: 1, type: 'constructor', id, kwargs: result },
          kwargs: { color: 'green' },
        }),
      },
    ],
  ])('the result and the id of a tool call, by %s', (_, output) => {
    const event = mapSpan({ attributes: { 'openinference.span.kind': 'TOOL', ...output } });
    expect(event.properties.tool).toMatchObject({ callId: 'call_1', output: { celsius: 21 } });
    // The message has more members than the result.
    expect(event.properties.tool.otel.attributes).toMatchObject(output);
  });

  test('the agent, the thread, the user and the provider in the metadata of a run', () => {
    const metadata = {
      lc_agent_name: 'planner',
      thread_id: 'thread-1',
      user_id: 'user-1',
      ls_provider: 'openai',
    };
    const expected = {
      context: { agentId: 'planner', threadId: 'thread-1', userId: 'user-1' },
      instrumentation: { source: 'openai' },
    };
    const withPrefix = (prefix: string, encode: (text: string) => string) =>
      Object.fromEntries(Object.entries(metadata).map(([name, text]) => [prefix + name, encode(text)]));
    const kind = { 'openinference.span.kind': 'LLM' };
    for (const attributes of [
      { ...kind, metadata: JSON.stringify(metadata) },
      { ...chat, ...withPrefix('traceloop.association.properties.', String) },
      { 'langsmith.span.kind': 'llm', ...withPrefix('langsmith.metadata.', String) },
      {
        'langfuse.observation.type': 'generation',
        ...withPrefix('langfuse.observation.metadata.', JSON.stringify),
      },
    ]) {
      expect(mapSpan({ attributes })).toMatchObject(expected);
    }
  });

  test('the parts that OpenInference for JavaScript leaves out are in the serialized messages', () => {
    const message = (kind: string, kwargs: object) => ({
      lc: 1,
      type: 'constructor',
      id: ['langchain_core', 'messages', kind],
      kwargs,
    });
    const event = mapSpan({
      attributes: {
        'openinference.span.kind': 'LLM',
        'llm.input_messages.0.message.role': 'system',
        'llm.input_messages.1.message.role': 'user',
        'llm.input_messages.1.message.content': 'How warm?',
        'input.value': JSON.stringify({
          messages: [
            [
              message('SystemMessage', { content: [{ type: 'text', text: 'Be brief.' }] }),
              message('HumanMessage', { content: 'How warm?' }),
            ],
          ],
        }),
        'llm.output_messages.0.message.role': 'assistant',
        'llm.output_messages.0.message.tool_calls.0.tool_call.function.name': 'get_weather',
        'llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments': '{}',
        'output.value': JSON.stringify({
          generations: [
            [
              {
                text: '',
                generationInfo: { finish_reason: 'tool_calls' },
                message: message('AIMessage', {
                  id: 'chatcmpl-1',
                  content: '',
                  tool_calls: [{ id: 'call_1', name: 'get_weather', args: {} }],
                  response_metadata: { finish_reason: 'tool_calls' },
                }),
              },
            ],
          ],
        }),
      },
    });
    expect(event.properties.llm).toMatchObject({
      responseId: 'chatcmpl-1',
      input: { system: 'Be brief.', prompt: 'How warm?' },
      output: { toolCalls: [{ id: 'call_1' }], finishReason: 'tool_calls' },
    });
  });

  test('an error message without its stack trace', () => {
    const messages = [
      'OpenAIError(\'Bad model.\')Traceback (most recent call last):\n\n\n  File "a.py", line 1',
      "OpenAIError('Bad model.')\n\nOpenAIError: Bad model.\n    at run (a.mjs:1:1)",
    ];
    for (const message of messages) {
      const event = mapSpan({ attributes: chat, status: { code: 2, message } });
      expect(event.status.error.message).toBe("OpenAIError('Bad model.')");
      expect(event.properties.llm.otel.status.message).toBe(message);
    }
  });

  test("LangSmith's nested counts are parts of their totals", () => {
    const usage = {
      input_tokens: 20,
      output_tokens: 7,
      total_tokens: 27,
      input_token_details: { cache_read: 8 },
      output_token_details: { reasoning: 3 },
    };
    const attributes = {
      'langsmith.span.kind': 'llm',
      'langsmith.metadata.usage_metadata': JSON.stringify(usage),
    };
    expect(mapSpan({ attributes }).properties.llm.usage).toEqual({
      inputTokens: 20,
      inputTokenDetails: { uncachedTokens: 12, cacheReadTokens: 8 },
      outputTokens: 7,
      outputTokenDetails: { reasoningTokens: 3, responseTokens: 4 },
      totalTokens: 27,
    });
  });
});

describe('Mastra', () => {
  const trace = { spanId: '0000000000000002', parentSpanId: '0000000000000001' };
  const stepOf = (output: object) => ({
    spanId: '0000000000000001',
    attributes: {
      'gen_ai.operation.name': 'agent_step',
      'mastra.model_step.input': JSON.stringify([
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'How warm?' },
      ]),
      'mastra.model_step.output': JSON.stringify(output),
      'mastra.metadata.headers': '{"connection":"keep-alive"}',
      'mastra.tags': '["eu"]',
    },
  });
  const callWith = (finishReason: string) => ({
    ...trace,
    attributes: {
      ...chat,
      'gen_ai.request.model': 'gpt-4o',
      'gen_ai.output.messages': '[{"role":"assistant","parts":[{"type":"text","content":""}]}]',
      'gen_ai.response.finish_reasons': JSON.stringify([finishReason]),
      'mastra.metadata.userId': 'user-1',
      'mastra.metadata.plan': 'pro',
    },
  });
  const call = { toolCallId: 'call_1', toolName: 'get_weather', args: { city: 'Bern' } };

  test('the prompt and the tool calls are on the step above the call', () => {
    const { events } = mapRequests({
      spans: [stepOf({ text: '', toolCalls: [call] }), callWith('tool-calls')],
    });
    expect(events).toMatchObject([
      {
        status: { state: 'ok' },
        context: { userId: 'user-1' },
        additionalProperties: { plan: 'pro', tags: 'eu' },
        properties: {
          llm: {
            model: 'gpt-4o',
            input: { system: 'Be brief.', prompt: 'How warm?' },
            output: {
              mode: 'tool_calls',
              toolCalls: [{ id: 'call_1', name: 'get_weather', arguments: '{"city":"Bern"}' }],
              finishReason: 'tool_calls',
            },
          },
        },
      },
    ]);
    expect(events[0].additionalProperties).not.toHaveProperty('headers');
  });

  test('a call whose only finish reason is error has failed', () => {
    const { events } = mapRequests({ spans: [stepOf({ text: '', toolCalls: [] }), callWith('error')] });
    expect(events).toMatchObject([{ status: { state: 'error' } }]);
  });
});

test.each([
  ['smolagents', { args: [], sanitize_inputs_outputs: true, kwargs: { city: 'Bern' } }],
  ['LlamaIndex', { kwargs: { city: 'Bern' } }],
  ["OpenLLMetry's LangChain", { input_str: "{'city': 'Bern'}", inputs: { city: 'Bern' }, tags: [] }],
])('the arguments of a tool within the call of %s', (_, input) => {
  const attributes = { 'openinference.span.kind': 'TOOL', 'input.value': JSON.stringify(input) };
  expect(mapSpan({ attributes }).properties.tool.input).toEqual({ city: 'Bern' });
});

test('arguments without names stay as they are sent', () => {
  const input = { args: ['Bern'], kwargs: {} };
  const attributes = { 'openinference.span.kind': 'TOOL', 'input.value': JSON.stringify(input) };
  expect(mapSpan({ attributes }).properties.tool.input).toEqual(input);
});

test("LlamaIndex's tool output and its list of prompts", () => {
  const output = { blocks: [{ text: '21' }], tool_name: 'get_weather', raw_output: '21', is_error: false };
  const tool = { 'openinference.span.kind': 'TOOL', 'output.value': JSON.stringify(output) };
  expect(mapSpan({ attributes: tool }).properties.tool.output).toBe('21');
  const llm = { 'openinference.span.kind': 'LLM', 'llm.prompts': ['hi'], 'input.value': '{"args":["hi"]}' };
  expect(mapSpan({ attributes: llm }).properties.llm.input.prompt).toBe('hi');
});

test.each(['planner.run', 'planner._execute_core', 'planner'])('the agent of the run %s', (name) => {
  const { events } = mapRequests({
    spans: [
      { spanId: '0000000000000001', name, attributes: { 'openinference.span.kind': 'AGENT' } },
      {
        spanId: '0000000000000002',
        parentSpanId: '0000000000000001',
        attributes: { 'openinference.span.kind': 'TOOL' },
      },
    ],
  });
  expect(events).toMatchObject([{ context: { agentId: 'planner' } }]);
});

test('Semantic Kernel: names of Python constants and classes', () => {
  const attributes = {
    ...chat,
    'gen_ai.response.finish_reason': 'FinishReason.TOOL_CALLS',
    'error.type': "<class 'semantic_kernel.exceptions.ServiceResponseException'>",
  };
  const event = mapSpan({ attributes, status: { code: 2 } });
  expect(event.properties.llm.output.finishReason).toBe('tool_calls');
  expect(event.status.error.code).toBe('semantic_kernel.exceptions.ServiceResponseException');
});

test("LiteLLM's callback: a tool call beside empty messages, and the user", () => {
  const attributes = {
    ...chat,
    'gen_ai.output.messages': '[{"role":"assistant","parts":[],"finish_reason":"tool_calls"}]',
    'gen_ai.completion.0.function_call.name': 'get_weather',
    'gen_ai.completion.0.function_call.arguments': '{"city":"Bern"}',
    'llm.user': 'user-1',
  };
  const event = mapSpan({ attributes });
  expect(event.context.userId).toBe('user-1');
  expect(event.properties.llm.output).toMatchObject({
    mode: 'tool_calls',
    toolCalls: [{ name: 'get_weather', arguments: '{"city":"Bern"}' }],
  });
});

test('Pydantic AI before 1.0 sends the messages as a list of events in an attribute, below the run of an agent', () => {
  const call = { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{}' } };
  const ofEvent = (name: string) => ({ 'gen_ai.system': 'openai', 'event.name': name });
  const sent = [
    { role: 'system', content: 'Be brief.', 'gen_ai.message.index': 0, ...ofEvent('gen_ai.system.message') },
    { role: 'user', content: 'How warm?', 'gen_ai.message.index': 0, ...ofEvent('gen_ai.user.message') },
    { index: 0, message: { role: 'assistant', tool_calls: [call] }, ...ofEvent('gen_ai.choice') },
  ];
  const tool = { name: 'get_weather', parameters_json_schema: {} };
  const { events, nodes } = mapRequests({
    spans: [
      { spanId: '00000000000000a1', attributes: { agent_name: 'traveller', model_name: 'gpt-4o' } },
      {
        ...{ spanId: '00000000000000a2', parentSpanId: '00000000000000a1' },
        attributes: {
          ...{ 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'gpt-4o' },
          events: JSON.stringify(sent),
          model_request_parameters: JSON.stringify({ function_tools: [tool] }),
        },
      },
    ],
  });
  expect(events).toMatchObject([
    {
      context: { agentId: 'traveller' },
      properties: {
        llm: {
          input: { system: 'Be brief.', prompt: 'How warm?', tools: [tool] },
          output: { toolCalls: [{ id: 'call_1', name: 'get_weather', arguments: '{}' }] },
        },
      },
    },
  ]);
  expect(events[0].properties.llm.otel.attributes).not.toHaveProperty('events');
  expect(nodes.flatMap((json) => JSON.parse(json)).map(({ kind }) => kind)).toEqual(['agent', 'llm']);
});

test("Pipecat's names of messages, tools and the time of the first token, below the span of a conversation", () => {
  const messages = [{ role: 'user', content: 'How warm?' }];
  const tool = { type: 'function', function: { name: 'get_weather' } };
  const turn = { spanId: '00000000000000a1', attributes: { 'conversation.id': 'thread-1' } };
  const attributes = {
    ...{ 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'gpt-4o', 'gen_ai.output.type': 'text' },
    'gen_ai.system_instructions': 'Be brief.',
    ...{ input: JSON.stringify(messages), output: 'Mild.', tools: JSON.stringify([tool]) },
    'metrics.ttfb': 0.25,
  };
  const call = { spanId: '00000000000000a2', parentSpanId: turn.spanId, attributes };
  const speech = { ...call, spanId: '00000000000000a3', attributes: { 'gen_ai.operation.name': 'tts' } };
  const { events } = mapRequests({ spans: [turn, call, speech] });
  expect(events).toMatchObject([
    {
      context: { threadId: 'thread-1' },
      properties: {
        llm: {
          input: { system: 'Be brief.', prompt: 'How warm?', messages, tools: [tool] },
          output: { mode: 'text', response: 'Mild.' },
          timeToFirstChunkMs: 250,
        },
      },
    },
  ]);
});

test("Pydantic AI's older names of a tool's input and output", () => {
  const attributes = {
    'gen_ai.operation.name': 'execute_tool',
    tool_arguments: '{"city":"Bern"}',
    tool_response: '{"celsius":21}',
  };
  expect(mapSpan({ attributes }).properties.tool).toMatchObject({
    input: { city: 'Bern' },
    output: { celsius: 21 },
  });
});

test("Google's ADK: requests and responses of Gemini", () => {
  const event = mapSpan({
    attributes: {
      'gen_ai.operation.name': 'generate_content',
      'gcp.vertex.agent.session_id': 'thread-1',
      'gcp.vertex.agent.llm_request': JSON.stringify({
        model: 'gemini-2.0-flash',
        config: { system_instruction: 'Be brief.' },
        contents: [{ role: 'user', parts: [{ text: 'How warm?' }] }],
      }),
      'gcp.vertex.agent.llm_response': JSON.stringify({
        content: {
          role: 'model',
          parts: [{ function_call: { name: 'get_weather', args: { city: 'Bern' } } }],
        },
        finish_reason: 'STOP',
      }),
    },
  });
  expect(event).toMatchObject({
    context: { threadId: 'thread-1' },
    properties: {
      llm: {
        input: { system: 'Be brief.', prompt: 'How warm?' },
        output: {
          toolCalls: [{ name: 'get_weather', arguments: '{"city":"Bern"}' }],
          finishReason: 'stop',
        },
      },
    },
  });
});

test("the response's id and finish reason in a response that OpenInference sends as JSON", () => {
  const responses = [
    { id: 'chatcmpl-1', choices: [{ finish_reason: 'stop', message: { content: 'Mild.' } }] },
    { id: 'chatcmpl-1', type: 'message', model: 'claude', content: [], stop_reason: 'stop' },
    { response_id: 'chatcmpl-1', candidates: [{ finish_reason: 'stop' }] },
  ];
  for (const response of responses) {
    const { llm } = mapSpan({
      attributes: { 'openinference.span.kind': 'LLM', 'output.value': JSON.stringify(response) },
    }).properties;
    expect([llm.responseId, llm.output.finishReason]).toEqual(['chatcmpl-1', 'stop']);
  }
  const item = { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '{}' };
  const attributes = {
    'langfuse.observation.type': 'generation',
    'langfuse.observation.output': JSON.stringify(item),
  };
  expect(mapSpan({ attributes }).properties.llm).not.toHaveProperty('responseId');
});

test('a session and a user of the resource apply to spans that name none', () => {
  const around = { resource: { 'session.id': 'thread-1', 'user.id': 'user-1' } };
  expect(mapSpan({ attributes: chat }, around).context).toEqual({ threadId: 'thread-1', userId: 'user-1' });
  const named = mapSpan({ attributes: { ...chat, 'session.id': 'thread-2' } }, around);
  expect(named.context.threadId).toBe('thread-2');
});
