import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Weir } from '../../src/index.ts';
import { messagesScenarios } from '../differential/anthropic-scenarios.ts';
import { openaiHelperScenarios } from '../differential/openai-helpers.ts';
import { chatScenarios, responsesScenarios } from '../differential/openai-scenarios.ts';
import { type Harness, runScenario } from '../differential/scenario.ts';
import { startProvider } from '../support/provider.ts';
import { WeirStub } from '../support/weir-stub.ts';
import { requireVersion } from './places.ts';

let harness: Pick<Harness<unknown>, 'provider' | 'stub'>;
beforeAll(async () => {
  harness = { provider: await startProvider(), stub: await WeirStub.start() };
});
afterAll(async () => {
  await harness.provider[Symbol.asyncDispose]();
  await harness.stub.close();
});

// Typed as the newest version. A scenario declares itself impossible for versions that lack its methods.
const openaiVersions = ['openai-4', 'openai-5', 'openai-6', 'openai-7'];
const anthropicVersions = ['anthropic-0.50', 'anthropic-0.70', 'anthropic-0.101', 'anthropic-1'];

describe.each(openaiVersions)('%s', (version) => {
  const Client: typeof OpenAI = requireVersion(version).default;
  const create = (options: object = {}) =>
    new Client({ baseURL: harness.provider.url, apiKey: 'k', ...options });
  const scenarios = [...chatScenarios, ...responsesScenarios, ...openaiHelperScenarios];
  test.each(scenarios)('observe: $name', async (scenario) => {
    const createObserved = (weir: Weir) => weir.observe(create());
    expect(await runScenario(scenario, { ...harness, createBare: create, createObserved })).toBeDefined();
  });
});

describe.each(anthropicVersions)('%s', (version) => {
  const Client: typeof Anthropic = requireVersion(version).default;
  const baseURL = () => harness.provider.url.replace('/v1', '');
  const create = (options: object = {}) => new Client({ baseURL: baseURL(), apiKey: 'k', ...options });
  test.each(messagesScenarios)('observe: $name', async (scenario) => {
    const createObserved = (weir: Weir) => weir.observe(create());
    expect(await runScenario(scenario, { ...harness, createBare: create, createObserved })).toBeDefined();
  });
});
