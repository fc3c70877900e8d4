import { expect, test } from 'vitest';
import { mapLogs, mapRequests, mapSpan } from '../../../../../test/support/otlp/mapped-spans.ts';

/** What senders send of the tokens and the price of a call (docs/opentelemetry.md), and the event's usage. */

const chat = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'anthropic' };
const generation = { 'langfuse.observation.type': 'generation' };
const json = (name: string, value: object) => ({ [name]: JSON.stringify(value) });
const tokens = (input: number, output: number) => ({
  'gen_ai.usage.input_tokens': input,
  'gen_ai.usage.output_tokens': output,
});
const aiSdk = (provider: string, metadata: object) => ({
  'ai.operationId': 'ai.generateText.doGenerate',
  'ai.model.provider': provider,
  ...json('ai.response.providerMetadata', metadata),
});

/** Anthropic's usage of a call with a compaction. */
const compacted = {
  ...{ input_tokens: 10, cache_read_input_tokens: 20, output_tokens: 7 },
  iterations: [
    {
      ...{ type: 'compaction', input_tokens: 100, cache_read_input_tokens: 1, output_tokens: 4 },
      ...{ cache_creation_input_tokens: 4, cache_creation: { ephemeral_1h_input_tokens: 4 } },
    },
    { type: 'message', input_tokens: 10, cache_read_input_tokens: 20, output_tokens: 7 },
  ],
};

/** `[input, cached, written, output]`, and what else is expected of `properties.llm`. */
type Expected = readonly [number, number | undefined, number | undefined, number, object?];

const cases: Record<string, readonly [attributes: Record<string, string | number>, Expected]> = {
  'Pydantic AI 1, the names of the provider': [
    {
      ...chat,
      ...tokens(130_213, 100),
      'gen_ai.usage.details.input_tokens': 5,
      'gen_ai.usage.details.cache_read_input_tokens': 128_955,
      'gen_ai.usage.details.cache_creation_input_tokens': 1_253,
    },
    [130_213, 128_955, 1_253, 100],
  ],
  'Pydantic AI 1, of a model that it does not know': [
    {
      ...chat,
      'gen_ai.usage.details.input_tokens': 500,
      'gen_ai.usage.details.cache_read_input_tokens': 64,
      'gen_ai.usage.details.cache_creation_input_tokens': 16,
      'gen_ai.usage.details.output_tokens': 30,
    },
    [580, 64, 16, 30],
  ],
  'Pydantic AI 1, its own names': [
    {
      ...chat,
      ...tokens(130_213, 100),
      'gen_ai.usage.details.cache_read_tokens': 128_955,
      'gen_ai.usage.details.cache_write_tokens': 1_253,
    },
    [130_213, 128_955, 1_253, 100],
  ],
  'names without details': [
    {
      ...chat,
      ...tokens(130_213, 100),
      'gen_ai.usage.cache_read_tokens': 128_955,
      'gen_ai.usage.cache_write_tokens': 1_253,
    },
    [130_213, 128_955, 1_253, 100],
  ],
  input_cached_tokens: [
    { ...chat, ...tokens(130_213, 100), 'gen_ai.usage.input_cached_tokens': 128_955 },
    [130_213, 128_955, undefined, 100],
  ],
  'Strands, cached tokens beside the input': [
    {
      ...chat,
      ...tokens(12, 100),
      'gen_ai.usage.total_tokens': 5_112,
      'gen_ai.usage.cache_read_input_tokens': 0,
      'gen_ai.usage.cache_write_input_tokens': 5_000,
    },
    [5_012, 0, 5_000, 100],
  ],
  'AI SDK with Anthropic': [
    {
      ...aiSdk('anthropic.messages', {
        anthropic: {
          cacheCreationInputTokens: 5_000,
          cacheReadInputTokens: 40_000,
          usage: {
            input_tokens: 12,
            cache_creation: { ephemeral_5m_input_tokens: 4_000, ephemeral_1h_input_tokens: 1_000 },
          },
        },
      }),
      'ai.usage.promptTokens': 12,
      'ai.usage.completionTokens': 100,
    },
    [45_012, 40_000, 5_000, 100, { usage: { inputTokenDetails: { cacheWriteHourTokens: 1_000 } } }],
  ],
  'AI SDK with Bedrock': [
    {
      ...aiSdk('amazon-bedrock', { bedrock: { usage: { cacheWriteInputTokens: 4_425 } } }),
      'ai.usage.promptTokens': 23,
      'ai.usage.completionTokens': 100,
    },
    [4_448, undefined, 4_425, 100],
  ],
  'AI SDK with OpenAI': [
    {
      ...aiSdk('openai.chat', {
        openai: { cachedPromptTokens: 4_608, reasoningTokens: 60, serviceTier: 'flex' },
      }),
      'ai.usage.promptTokens': 5_000,
      'ai.usage.completionTokens': 100,
    },
    [
      5_000,
      4_608,
      undefined,
      100,
      { serviceTier: 'flex', usage: { outputTokenDetails: { reasoningTokens: 60 } } },
    ],
  ],
  'AI SDK 6, which includes cached tokens': [
    {
      ...aiSdk('anthropic.messages', { anthropic: { cacheReadInputTokens: 40 } }),
      'ai.usage.inputTokens': 52,
      'ai.usage.inputTokenDetails.noCacheTokens': 12,
      'ai.usage.inputTokenDetails.cacheReadTokens': 40,
      'ai.usage.outputTokens': 1,
    },
    [52, 40, undefined, 1],
  ],
  'AI SDK with Google': [
    {
      ...aiSdk('google.generative-ai', {
        google: {
          usageMetadata: {
            promptTokenCount: 100,
            cachedContentTokenCount: 40,
            promptTokensDetails: [
              { modality: 'TEXT', tokenCount: 70 },
              { modality: 'AUDIO', tokenCount: 30 },
            ],
            candidatesTokenCount: 7,
            thoughtsTokenCount: 3,
            totalTokenCount: 110,
            trafficType: 'ON_DEMAND_PRIORITY',
          },
        },
      }),
      'ai.usage.promptTokens': 100,
      'ai.usage.completionTokens': 7,
      'ai.usage.totalTokens': 110,
    },
    [
      100,
      40,
      undefined,
      10,
      {
        serviceTier: 'ON_DEMAND_PRIORITY',
        usage: { inputTokenDetails: { audioTokens: 30 }, outputTokenDetails: { reasoningTokens: 3 } },
      },
    ],
  ],
  "Langfuse's LangChain handler with Anthropic's cache": [
    {
      ...generation,
      ...json('langfuse.observation.usage_details', {
        input: 10,
        output: 1,
        total: 11,
        cache_read_input_tokens: 10,
        cache_creation_input_tokens: 5,
        cache_creation_ephemeral_5m_input_tokens: 5,
        cache_creation_ephemeral_1h_input_tokens: 0,
      }),
    },
    [25, 10, 5, 1],
  ],
  'langchain-anthropic, which empties the count of all writes': [
    {
      ...chat,
      ...json('langsmith.metadata.usage_metadata', {
        input_tokens: 25,
        output_tokens: 1,
        total_tokens: 26,
        input_token_details: {
          cache_creation: 0,
          cache_read: 10,
          ephemeral_5m_input_tokens: 3,
          ephemeral_1h_input_tokens: 2,
        },
      }),
    },
    [25, 10, 5, 1, { usage: { inputTokenDetails: { cacheWriteHourTokens: 2 } } }],
  ],
  'langchain-openai through Langfuse, priority within': [
    {
      ...generation,
      ...json('langfuse.observation.usage_details', {
        input: 1_000,
        output: 100,
        total: 1_100,
        input_priority: 800,
        input_priority_cache_read: 200,
        output_priority: 100,
      }),
    },
    [1_000, 200, undefined, 100, { serviceTier: 'priority' }],
  ],
  'langchain-openai through Langfuse, flex beside': [
    {
      ...generation,
      ...json('langfuse.observation.usage_details', {
        input: 0,
        output: 0,
        total: 1_100,
        input_flex: 800,
        input_flex_cache_read: 200,
        output_flex: 100,
      }),
    },
    [1_000, 200, undefined, 100, { serviceTier: 'flex' }],
  ],
  'OpenInference, audio': [
    {
      'openinference.span.kind': 'LLM',
      'llm.token_count.prompt': 1_000,
      'llm.token_count.prompt_details.audio': 900,
      'llm.token_count.completion': 1_000,
      'llm.token_count.completion_details.audio': 800,
    },
    [
      1_000,
      undefined,
      undefined,
      1_000,
      { usage: { inputTokenDetails: { audioTokens: 900 }, outputTokenDetails: { audioTokens: 800 } } },
    ],
  ],
  "Anthropic's own usage, with its tier, speed and region": [
    {
      ...chat,
      ...tokens(10_003, 100),
      'gen_ai.usage.cache_creation.input_tokens': 10_000,
      ...json('gen_ai.usage.raw', {
        input_tokens: 3,
        cache_creation_input_tokens: 10_000,
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 10_000 },
        output_tokens: 100,
        output_tokens_details: { thinking_tokens: 40 },
        server_tool_use: { web_search_requests: 2, web_fetch_requests: 1 },
        service_tier: 'batch',
        inference_geo: 'us',
      }),
    },
    [
      10_003,
      undefined,
      10_000,
      100,
      {
        serviceTier: 'batch',
        region: 'us',
        usage: {
          inputTokenDetails: { cacheWriteHourTokens: 10_000 },
          outputTokenDetails: { reasoningTokens: 40 },
          webSearches: 2,
        },
      },
    ],
  ],
  'Anthropic, a compaction beside the counts': [
    {
      ...chat,
      ...tokens(30, 7),
      'gen_ai.usage.cache_read.input_tokens': 20,
      ...json('gen_ai.usage.raw', compacted),
    },
    [135, 21, 4, 11, { usage: { inputTokenDetails: { cacheWriteHourTokens: 4 }, totalTokens: 146 } }],
  ],
  'Anthropic, a compaction beside counts without cached tokens': [
    { ...chat, ...tokens(10, 7), ...json('gen_ai.usage.raw', compacted) },
    [135, 21, 4, 11],
  ],
  'LiteLLM, the names of two providers in one object': [
    {
      ...chat,
      ...json('gen_ai.usage.raw', {
        ...{ prompt_tokens: 120, completion_tokens: 7, cache_read_input_tokens: 20 },
        prompt_tokens_details: { cached_tokens: 20 },
      }),
    },
    [120, 20, undefined, 7],
  ],
  'Anthropic, fewer cached tokens than input, beside it': [
    {
      ...chat,
      ...tokens(100, 7),
      ...json('gen_ai.usage.raw', { input_tokens: 100, cache_read_input_tokens: 20, output_tokens: 7 }),
    },
    [120, 20, undefined, 7],
  ],
  'Anthropic, a compaction that the sender has added': [
    { ...chat, ...tokens(130, 11), ...json('gen_ai.usage.raw', compacted) },
    [130, 20, undefined, 11],
  ],
  Braintrust: [
    {
      'braintrust.span_attributes': '{"type":"llm"}',
      ...json('braintrust.metrics', {
        ...{ prompt_tokens: 130, completion_tokens: 11, tokens: 141, prompt_cached_tokens: 20 },
        ...{ prompt_cache_creation_tokens: 4, completion_reasoning_tokens: 3, estimated_cost: 0.5 },
      }),
    },
    [
      130,
      20,
      4,
      11,
      {
        usage: { totalTokens: 141, outputTokenDetails: { reasoningTokens: 3 } },
        cost: { total: 0.5, currency: 'USD' },
      },
    ],
  ],
  'the region of the address': [
    { ...chat, ...tokens(10, 1), 'server.address': 'eu.api.openai.com' },
    [10, undefined, undefined, 1, { region: 'eu' }],
  ],
  'the tier of the response': [
    {
      ...chat,
      ...tokens(10, 1),
      'openai.request.service_tier': 'auto',
      'openai.response.service_tier': 'priority',
    },
    [10, undefined, undefined, 1, { serviceTier: 'priority' }],
  ],
};

test.each(Object.entries(cases))('%s', (_name, [attributes, [input, cached, written, output, more = {}]]) => {
  const { llm } = mapSpan({ attributes: { ...attributes } }).properties;
  expect(llm.usage).toMatchObject({ inputTokens: input, outputTokens: output });
  expect(llm.usage.inputTokenDetails?.cacheReadTokens).toBe(cached);
  expect(llm.usage.inputTokenDetails?.cacheWriteTokens).toBe(written);
  expect(llm).toMatchObject(more);
  // A log record with all of a call says the same.
  const ids = { traceId: '1'.repeat(32), spanId: '2'.repeat(16) };
  const name = 'gen_ai.client.inference.operation.details';
  const [{ properties }] = mapLogs({ ...ids, eventName: name, attributes: { ...attributes } }).events;
  for (const member of ['usage', 'serviceTier', 'region', 'cost'])
    expect(properties.llm[member], member).toEqual(llm[member]);
});

test.each([
  ['gen_ai.usage.cost', 0.5, 0.5],
  ['gen_ai.cost.total_cost', '0.5', 0.5],
  ['gen_ai.cost.total', 0.5, 0.5],
  ['gen_ai.usage.estimated_cost', 0.5, 0.5],
  ['llm.cost.total', 0.5, 0.5],
  ['langfuse.observation.cost_details', '{"total":0.5,"input":0.4}', 0.5],
  ['langfuse.observation.cost_details', '{"input":0.4,"output":0.1}', 0.5],
  ['gen_ai.usage.raw', '{"prompt_tokens":1,"cost":0.5}', 0.5],
  ['langfuse.observation.cost_details', '{"input":0,"output":0,"total":0}', undefined],
  ['gen_ai.usage.cost', 0, undefined],
])('the cost that the sender reports as %s %s is %s', (name, value, total) => {
  const { llm } = mapSpan({ attributes: { ...chat, [name]: value } }).properties;
  expect(llm.cost).toEqual(total && { total, currency: 'USD' });
});

test('a cost has the currency that the sender says', () => {
  const cost = { 'gen_ai.usage.cost': 3, 'gen_ai.usage.cost.currency': 'EUR' };
  const { llm } = mapSpan({ attributes: { ...chat, ...cost } }).properties;
  expect(llm.cost).toEqual({ total: 3, currency: 'EUR' });
});

test('the call of an advisor within a call is an event with its own model, once for all libraries', () => {
  const advice = { type: 'advisor_message', model: 'claude-opus-4-8', input_tokens: 800, output_tokens: 500 };
  const usage = {
    ...{ input_tokens: 20, output_tokens: 14 },
    iterations: [{ ...advice, cache_read_input_tokens: 20 }],
  };
  const call = { ...chat, ...tokens(20, 14), 'gen_ai.response.id': 'msg_1', 'user.id': 'anna' };
  const attributes = { ...call, ...json('gen_ai.usage.raw', usage) };
  const first = { scope: { name: 'a' }, spans: [{ spanId: 'a'.repeat(16), attributes }] };
  const [outer, below] = mapRequests(first).events;
  expect(below.additionalProperties['otel.parent_event_id']).toBe(outer.id);
  const [own, inner, ...others] = mapRequests(first, {
    scope: { name: 'b' },
    spans: [{ spanId: 'b'.repeat(16), attributes: { ...call, ...json('output.value', { usage }) } }],
  }).events;
  expect(others).toEqual([]);
  expect(own.properties.llm.usage).toMatchObject({ inputTokens: 20, outputTokens: 14 });
  expect(inner).toMatchObject({
    ...{ type: 'llm', startTimeMs: own.startTimeMs, traceId: own.traceId, context: { userId: 'anna' } },
    properties: {
      llm: {
        model: 'claude-opus-4-8',
        usage: { inputTokens: 820, inputTokenDetails: { cacheReadTokens: 20 }, outputTokens: 500 },
      },
    },
  });
});
