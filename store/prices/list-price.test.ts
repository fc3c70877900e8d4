import { expect, test } from 'vitest';
import { candidateNames, findByName } from './model-names.ts';
import { parsePriceList, readShippedList } from './price-list.ts';

const entry = (provider: string, input: number, more: object = {}) => ({
  litellm_provider: provider,
  mode: 'chat',
  input_cost_per_token: input,
  output_cost_per_token: 10 * input,
  ...more,
});

test('a list of LiteLLM becomes exact prices per million tokens, without names that lead to an equal price', () => {
  const file = {
    sample_spec: { mode: 'one of: chat', litellm_provider: 'one of' },
    'gpt-4o': entry('openai', 2.5e-6, { cache_read_input_token_cost: 1.25e-6 }),
    'gpt-4o-2024-08-06': entry('openai', 2.5e-6, { cache_read_input_token_cost: 1.25e-6 }),
    'gpt-4o-2024-05-13': entry('openai', 5e-6),
    'azure/gpt-4o': entry('azure', 2.5e-6, { cache_read_input_token_cost: 1.25e-6 }),
    'azure/eu/gpt-4o': entry('azure', 2.75e-6),
    'xai/grok-4': entry('xai', 3e-6),
    'gpt-5.5': entry('openai', 5e-6, {
      input_cost_per_token_above_272k_tokens: 1e-5,
      input_cost_per_token_above_272k_tokens_priority: 2e-5,
      input_cost_per_token_batches: 2.5e-6,
      input_cost_per_token_above_13k_tokens: 1,
      cache_creation_input_token_cost_above_1hr: 1e-5,
      cache_creation_input_token_cost_above_1hr_above_200k_tokens: 2e-5,
      output_cost_per_audio_token: 8e-5,
      search_context_cost_per_query: { search_context_size_medium: 0.01 },
      provider_specific_entry: { us: 1.1, fast: 2 },
    }),
    'us.anthropic.claude-x-20250101-v1:0': entry('bedrock', 3.3e-6),
    'anthropic.claude-x-20250101-v1:0': entry('bedrock', 3e-6, { cache_creation_input_token_cost: 3.75e-6 }),
    'text-embedding-3': { ...entry('openai', 1e-8), mode: 'embedding' },
    'gpt-preview': entry('openai', 0),
    'gpt-image': {
      ...{ litellm_provider: 'openai', mode: 'image_generation', input_cost_per_token: 5e-6 },
      output_cost_per_image_token: 4e-5,
    },
    'fireworks_ai/llama': entry('fireworks_ai', 1e-6),
  };
  const { prices, day } = parsePriceList(JSON.stringify(file), '2026-11-23');
  expect(day).toBe('2026-11-23');
  const plain = { cacheRead: null, cacheWrite: null, rates: {} };
  expect(prices).toEqual([
    { model: 'azure/eu/gpt-4o', ...plain, input: '2.75', output: '27.5' },
    { model: 'claude-x', ...plain, input: '3', output: '30', cacheWrite: '3.75' },
    { model: 'gpt-4o', ...plain, input: '2.5', output: '25', cacheRead: '1.25' },
    { model: 'gpt-4o-2024-05-13', ...plain, input: '5', output: '50' },
    {
      ...{ model: 'gpt-5.5', ...plain, input: '5', output: '50' },
      rates: {
        'input >272000': '10',
        'input priority >272000': '20',
        'input batch': '2.5',
        cacheWriteHour: '10',
        'cacheWriteHour >200000': '20',
        audioOutput: '80',
        webSearches: '10000',
        'factor us': '1.1',
        'factor fast': '2',
      },
    },
    { model: 'gpt-image', ...plain, input: '5', output: '40', rates: { imageOutput: '40' } },
    { model: 'grok-4', ...plain, input: '3', output: '30' },
    { model: 'us.anthropic.claude-x-20250101-v1:0', ...plain, input: '3.3', output: '33' },
  ]);
});

test('each name of a list leads to its own price, also where the name that it first led to is left out', () => {
  const batch = { input_cost_per_token_batches: 1e-6 };
  const file = {
    o1: entry('openai', 2e-6, batch),
    'o1-2024-12-17': entry('openai', 2e-6, batch),
    'azure/o1': entry('azure', 2e-6),
    'azure/o1-2024-12-17': entry('azure', 2e-6, batch),
    'azure/eu/o1': entry('azure', 3e-6, { regional_processing_uplift_multiplier_eu: 1.1 }),
  };
  const { prices } = parsePriceList(JSON.stringify(file), '2026-11-23');
  const byName = new Map(prices.map((price) => [price.model, price]));
  const ratesOf = Object.keys(file).map((model) => findByName(byName, model)?.rates);
  const ofBatch = { 'input batch': '1' };
  expect(ratesOf).toEqual([ofBatch, ofBatch, {}, ofBatch, { 'factor eu': '1.1' }]);
});

test.each([
  ['gpt-4o', 'gpt-4o'],
  ['GPT-4o-2024-08-06', 'gpt-4o'],
  ['gpt-4o-2024-05-13', 'gpt-4o-2024-05-13'],
  ['openrouter/openai/gpt-4o-2024-05-13', 'gpt-4o-2024-05-13'],
  ['models/gemini-2.5-pro', 'gemini-2.5-pro'],
  ['projects/p/locations/l/publishers/google/models/gemini-2.5-pro', 'gemini-2.5-pro'],
  ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'us.anthropic.claude-sonnet-4-5'],
  ['eu.anthropic.claude-sonnet-4-5-20250929-v1:0', 'claude-sonnet-4-5'],
  ['claude-sonnet-4-5@20250929', 'claude-sonnet-4-5'],
  ['anthropic/claude-sonnet-4-5-latest', 'claude-sonnet-4-5'],
  ['ft:gpt-4o-2024-08-06:org:name:id', 'ft:gpt-4o'],
  ['anthropic/claude-sonnet-4.5', 'claude-sonnet-4-5'],
  ['claude-sonnet-4-5[1m]', 'claude-sonnet-4-5'],
  ['openai/gpt-4o:nitro', 'gpt-4o'],
  ['azure/gpt-35-turbo', 'gpt-3.5-turbo'],
])('%s has the price of %s', (model, listed) => {
  const names = [
    'gpt-4o',
    'gpt-4o-2024-05-13',
    'ft:gpt-4o',
    'gpt-3.5-turbo',
    'gemini-2.5-pro',
    'claude-sonnet-4-5',
    'us.anthropic.claude-sonnet-4-5',
  ];
  expect(findByName(new Map(names.map((name) => [name, name])), model)).toBe(listed);
});

test.each(['gpt-4', 'my-gpt-4o', 'gpt-4o:free', 'gpt-4o-mini', '/', ''])('%j is no other model', (model) => {
  expect(findByName(new Map([['gpt-4o', 1]]), model)).toBeUndefined();
});

test('a long name has few candidates', () => {
  expect(candidateNames('a/'.repeat(120)).length).toBeLessThan(60);
});

test('the list that comes with Weir has prices of known models', async () => {
  const { prices, source, licence } = await readShippedList();
  expect({ source, licence }).toEqual({ source: expect.stringContaining('LiteLLM'), licence: 'MIT' });
  const byName = new Map(prices.map((price) => [price.model, price]));
  expect(byName.size).toBe(prices.length);
  for (const model of [
    'gpt-4o-2024-08-06',
    'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    'models/gemini-2.5-pro',
  ]) {
    expect(findByName(byName, model), model).toBeDefined();
  }
});

test.each([
  ['[]', 'no JSON object'],
  ['{', 'JSON'],
  ['{}', 'no prices'],
  ['{"prices":[],"source":"s","day":"yesterday"}', 'day'],
  ['{"prices":[{"model":"m","input":"-1","output":"1"}],"source":"s","day":"2026-01-01"}', 'prices.0.input'],
  [
    '{"prices":[{"model":"m","input":"1","output":"1","rates":{"inputs":"1"}}],"source":"s","day":"2026-01-01"}',
    'prices.0.rates',
  ],
])('%s is no price list', (text, reason) => {
  expect(() => parsePriceList(text, '2026-01-01')).toThrow(reason);
});
