import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Provider, startProvider } from '../test/support/provider.ts';
import { text } from '../test/support/provider-bodies.ts';
import { WeirStub } from '../test/support/weir-stub.ts';
import { runAiAgent } from './ai-agent.ts';
import { runAnthropicAgent } from './anthropic-agent.ts';
import { runOpenAIAgent } from './openai-agent.ts';

let provider: Provider;
let stub: WeirStub;
beforeAll(async () => {
  provider = await startProvider();
  stub = await WeirStub.start();
  const variables = {
    WEIR_URL: stub.url,
    WEIR_API_KEY: 'key',
    OPENAI_BASE_URL: provider.url,
    OPENAI_API_KEY: 'key',
    ANTHROPIC_BASE_URL: provider.url.replace('/v1', ''),
    ANTHROPIC_API_KEY: 'key',
    MODEL: 'agent',
  };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await provider[Symbol.asyncDispose]();
  await stub.close();
});

test.each([
  ['openai', runOpenAIAgent],
  ['anthropic', runAnthropicAgent],
  ['ai', runAiAgent],
])('an agent on %s records two model calls and two tool calls in one trace', async (_name, run) => {
  stub.accepted.clear();
  expect(await run('How warm is it in Bern?')).toBe(text);
  const { events } = stub;
  expect(events.map(({ type, status }) => [type, status.state])).toEqual([
    ['llm', 'ok'],
    ['tool', 'ok'],
    ['tool', 'ok'],
    ['llm', 'ok'],
  ]);
  expect(new Set(events.map(({ traceId }) => traceId)).size).toBe(1);
  for (const { context } of events) expect(context).toEqual({ agentId: 'traveller', threadId: 'thread-1' });
  expect(
    events.find(({ properties }) => properties.tool?.name === 'get_weather')?.properties.tool,
  ).toMatchObject({
    input: { city: 'Bern' },
    output: { city: 'Bern', celsius: 21 },
  });
});
