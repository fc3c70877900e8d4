import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Weir } from '../../src/index.ts';
import { startProvider } from '../support/provider.ts';
import { WeirStub } from '../support/weir-stub.ts';
import { messagesScenarios } from './anthropic-scenarios.ts';
import { type Harness, runScenario } from './scenario.ts';

let harness: Pick<Harness<Anthropic>, 'provider' | 'stub'>;
beforeAll(async () => {
  harness = { provider: await startProvider(), stub: await WeirStub.start() };
});
afterAll(async () => {
  await harness.provider[Symbol.asyncDispose]();
  await harness.stub.close();
});

const create = (options: object = {}) =>
  new Anthropic({ baseURL: harness.provider.url.replace('/v1', ''), apiKey: 'sk-test', ...options });

const ways: [way: string, createObserved: (weir: Weir) => Anthropic][] = [
  ['weir.observe(client)', (weir) => weir.observe(create())],
  ['middleware: [weir.anthropic()]', (weir) => create({ middleware: [weir.anthropic()] })],
  ['fetch: weir.fetch()', (weir) => create({ fetch: weir.fetch() })],
  [
    'all of them together',
    (weir) => weir.observe(create({ fetch: weir.fetch(), middleware: [weir.anthropic()] })),
  ],
];

describe.each(ways)('%s behaves like a bare client', (_way, createObserved) => {
  test.each(messagesScenarios)('$name', async (scenario) => {
    expect(await runScenario(scenario, { ...harness, createBare: create, createObserved })).toBe('run');
  });
});
