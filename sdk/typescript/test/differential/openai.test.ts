import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startProvider } from '../support/provider.ts';
import { WeirStub } from '../support/weir-stub.ts';
import { openaiHelperScenarios } from './openai-helpers.ts';
import { chatScenarios, responsesScenarios } from './openai-scenarios.ts';
import { type Harness, runScenario } from './scenario.ts';

let harness: Pick<Harness<OpenAI>, 'provider' | 'stub'>;
beforeAll(async () => {
  harness = { provider: await startProvider(), stub: await WeirStub.start() };
});
afterAll(async () => {
  await harness.provider[Symbol.asyncDispose]();
  await harness.stub.close();
});

const create = (options: object = {}) =>
  new OpenAI({ baseURL: harness.provider.url, apiKey: 'sk-test', ...options });

const scenarios = [...chatScenarios, ...responsesScenarios, ...openaiHelperScenarios];

describe('an observed client behaves like a bare one', () => {
  test.each(scenarios)('$name', async (scenario) => {
    const observed: Harness<OpenAI>['createObserved'] = (weir) => weir.observe(create());
    const outcome = await runScenario(scenario, { ...harness, createBare: create, createObserved: observed });
    expect(outcome).toBe('run');
  });
});

describe('a client with an observed fetch behaves like a bare one', () => {
  test.each(scenarios)('$name', async (scenario) => {
    const observed: Harness<OpenAI>['createObserved'] = (weir) => create({ fetch: weir.fetch() });
    await runScenario(scenario, { ...harness, createBare: create, createObserved: observed });
  });
});
