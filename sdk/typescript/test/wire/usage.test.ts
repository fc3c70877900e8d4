import { expect, test } from 'vitest';
import { chatCompletions } from '../../src/adapters/chat.ts';
import { generateContent } from '../../src/adapters/generate-content.ts';
import { messages } from '../../src/adapters/messages.ts';
import { responses } from '../../src/adapters/responses.ts';
import { composeLlm } from '../../src/wire/llm.ts';

/** What decides the price of a call, as each provider says it. */
const read = (adapter: typeof messages, body: object) =>
  composeLlm(undefined, adapter.readAnswer(JSON.stringify(body)), {});

test('anthropic: lives of the cache, searches, tier, region, and compactions beside the counts', () => {
  const usage = {
    ...{ input_tokens: 10, cache_read_input_tokens: 5, cache_creation_input_tokens: 30, output_tokens: 7 },
    cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
    output_tokens_details: { thinking_tokens: 2 },
    server_tool_use: { web_search_requests: 3 },
    ...{ service_tier: 'priority', inference_geo: 'us' },
  };
  const compaction = {
    ...{ type: 'compaction', input_tokens: 100, output_tokens: 4, cache_read_input_tokens: 1 },
    ...{ cache_creation_input_tokens: 6, cache_creation: { ephemeral_1h_input_tokens: 6 } },
  };
  const iterations = [{ type: 'message', input_tokens: 10, output_tokens: 7 }, compaction];
  const llm = read(messages, { usage: { ...usage, iterations }, stop_reason: 'end_turn' });
  expect(llm).toMatchObject({
    usage: {
      inputTokens: 152,
      inputTokenDetails: {
        ...{ uncachedTokens: 110, cacheReadTokens: 6, cacheWriteTokens: 36, cacheWriteHourTokens: 26 },
      },
      outputTokens: 11,
      outputTokenDetails: { reasoningTokens: 2, responseTokens: 9 },
      webSearches: 3,
    },
    ...{ serviceTier: 'priority', region: 'us' },
    output: { finishReason: 'stop' },
  });
  expect(read(messages, { usage: { ...usage, speed: 'fast' } })).toMatchObject({
    usage: { inputTokens: 45 },
    serviceTier: 'fast',
  });
});

test('anthropic: the call of an advisor has its own model and counts, a fallback is the model of the call', () => {
  const counts = { input_tokens: 10, output_tokens: 7 };
  const advice = { type: 'advisor_message', model: 'claude-opus-4-8', input_tokens: 800, output_tokens: 500 };
  const cache = { cache_read_input_tokens: 20, cache_creation_input_tokens: 0 };
  const iterations = [
    { type: 'message', ...counts },
    { ...advice, ...cache },
    { type: 'message', ...counts },
  ];
  const body = { model: 'claude-sonnet-5', usage: { input_tokens: 20, output_tokens: 14, iterations } };
  expect(messages.readAnswer(JSON.stringify(body))).toMatchObject({
    model: 'claude-sonnet-5',
    usage: { inputTokens: 20, outputTokens: 14, totalTokens: 34 },
    innerCalls: [
      {
        model: 'claude-opus-4-8',
        usage: { inputTokens: 820, inputTokenDetails: { cacheReadTokens: 20 }, outputTokens: 500 },
      },
    ],
  });
  const fallback = [
    { type: 'message', model: 'claude-a' },
    { type: 'fallback_message', model: 'claude-b' },
  ];
  const usage = { ...counts, iterations: fallback };
  expect(read(messages, { model: 'claude-a', usage })).toMatchObject({ model: 'claude-b', usage: {} });
});

test('openai: audio and images, cached audio, the tier of the response, and the cost of OpenRouter', () => {
  const input = {
    cached_tokens: 4,
    audio_tokens: 9,
    image_tokens: 1,
    cached_tokens_details: { audio_tokens: 3 },
  };
  const output = { reasoning_tokens: 0, audio_tokens: 8 };
  const expected = {
    inputTokens: 20,
    inputTokenDetails: { cacheReadTokens: 4, audioTokens: 9, imageTokens: 1, cacheReadAudioTokens: 3 },
    outputTokenDetails: { audioTokens: 8 },
  };
  const chat = {
    ...{ prompt_tokens: 20, completion_tokens: 10, prompt_tokens_details: input },
    completion_tokens_details: output,
    cost: 0.5,
  };
  expect(read(chatCompletions, { usage: chat, service_tier: 'flex' })).toMatchObject({
    usage: expected,
    serviceTier: 'flex',
    cost: { total: 0.5, currency: 'USD' },
  });
  const usage = { input_tokens: 20, output_tokens: 10, input_tokens_details: input };
  const llm = read(responses, {
    usage: { ...usage, output_tokens_details: output },
    service_tier: 'priority',
  });
  expect(llm).toMatchObject({ usage: expected, serviceTier: 'priority' });
  expect(llm).not.toHaveProperty('cost');
});

test('google: modalities, and the kind of traffic', () => {
  const of = (modality: string, tokenCount: number) => ({ modality, tokenCount });
  const usageMetadata = {
    ...{ promptTokenCount: 20, candidatesTokenCount: 10, cachedContentTokenCount: 5 },
    promptTokensDetails: [of('TEXT', 8), of('AUDIO', 12)],
    cacheTokensDetails: [of('AUDIO', 2)],
    candidatesTokensDetails: [of('IMAGE', 9)],
    trafficType: 'ON_DEMAND_PRIORITY',
  };
  expect(read(generateContent, { usageMetadata })).toMatchObject({
    usage: {
      inputTokenDetails: { cacheReadTokens: 5, audioTokens: 12, cacheReadAudioTokens: 2 },
      outputTokenDetails: { imageTokens: 9 },
    },
    serviceTier: 'ON_DEMAND_PRIORITY',
  });
});
