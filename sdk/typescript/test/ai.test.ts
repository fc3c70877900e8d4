import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import {
  generateText,
  isStepCount,
  jsonSchema,
  type LanguageModel,
  streamText,
  type Telemetry,
  tool,
} from 'ai';
import { afterAll, afterEach, beforeAll, beforeEach, expect, expectTypeOf, test } from 'vitest';
import { weirTelemetry } from '../src/ai.ts';
import { Weir } from '../src/index.ts';
import { startProvider } from './support/provider.ts';
import { expectedToolCalls, text } from './support/provider-bodies.ts';
import { WeirStub } from './support/weir-stub.ts';

let provider: Awaited<ReturnType<typeof startProvider>>;
let stub: WeirStub;
let weir: Weir;
beforeAll(async () => {
  provider = await startProvider();
});
afterAll(() => provider[Symbol.asyncDispose]());
beforeEach(async () => {
  stub = await WeirStub.start();
  weir = new Weir({ url: stub.url, apiKey: 'key', flushOnExit: false });
});
afterEach(() => stub.close());

/** The models are observed below the AI SDK as well: each call must still be recorded once. */
const models: [name: string, create: () => (model: string) => LanguageModel][] = [
  ['openai.chat', () => createOpenAI({ baseURL: provider.url, apiKey: 'k', fetch: weir.fetch() }).chat],
  ['openai.responses', () => createOpenAI({ baseURL: provider.url, apiKey: 'k', fetch: weir.fetch() })],
  ['anthropic', () => createAnthropic({ baseURL: provider.url, apiKey: 'k', fetch: weir.fetch() })],
];

const tools = {
  get_weather: tool({
    inputSchema: jsonSchema<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } } }),
    execute: async ({ city }) => ({ city, warm: true }),
  }),
  get_rate: tool({
    inputSchema: jsonSchema<{ symbol: string }>({
      type: 'object',
      properties: { symbol: { type: 'string' } },
    }),
    execute: async (): Promise<number> => {
      throw new RangeError('No such currency.');
    },
  }),
};

const call = (model: LanguageModel) => ({
  model,
  instructions: 'Be brief.',
  prompt: 'How warm is it?',
  maxRetries: 1,
  telemetry: { integrations: [weirTelemetry(weir)], functionId: 'my-agent' },
});

async function recorded() {
  expect(await weir.flush()).toMatchObject({ dropped: 0, pending: 0 });
  return stub.events;
}

test('it has the type of a telemetry integration', () => {
  expectTypeOf(weirTelemetry).returns.toExtend<Telemetry>();
});

test.each(models)(
  '%s: an agent loop is recorded as model calls and tool calls in one trace',
  async (_name, create) => {
    const result = await generateText({ ...call(create()('agent')), tools, stopWhen: isStepCount(5) });
    expect(result.text).toBe(text);
    const events = await recorded();
    expect(
      events.map(({ type, properties }) => [type, properties.llm?.output?.mode ?? properties.tool?.name]),
    ).toEqual([
      ['llm', 'tool_calls'],
      expect.arrayContaining(['tool']),
      expect.arrayContaining(['tool']),
      ['llm', 'text'],
    ]);
    expect(new Set(events.map(({ traceId }) => traceId)).size).toBe(1);
    const [first, , , last] = events;
    expect(first?.properties.llm).toMatchObject({
      // The model that answered; `agent` was requested.
      model: expect.stringMatching(/^(gpt|claude)-test-2026$/),
      input: { system: 'Be brief.', prompt: 'How warm is it?', tools: [{}, {}] },
      output: { finishReason: 'tool_calls' },
      usage: { totalTokens: 150, inputTokenDetails: { cacheReadTokens: 64 } },
    });
    expect(last?.properties.llm?.output).toEqual({
      mode: 'text',
      response: text,
      toolCalls: [],
      finishReason: 'stop',
    });
    const byName = new Map(events.map((event) => [event.properties.tool?.name, event]));
    expect(byName.get('get_weather')).toMatchObject({
      status: { state: 'ok' },
      additionalProperties: { functionId: 'my-agent' },
      properties: {
        tool: { callId: 'call_1', input: { city: 'Bern' }, output: { city: 'Bern', warm: true } },
      },
    });
    expect(byName.get('get_rate')?.status).toEqual({
      state: 'error',
      error: { code: 'RangeError', message: 'No such currency.' },
    });
  },
);

test.each(models)('%s: a stream', async (_name, create) => {
  const result = streamText(call(create()('text')));
  expect(await result.text).toBe(text);
  const events = await recorded();
  expect(events).toHaveLength(1);
  expect(events[0]).toMatchObject({
    status: { state: 'ok' },
    instrumentation: { sourcePackage: 'ai', source: expect.stringMatching(/^(openai|anthropic)$/) },
    properties: { llm: { output: { response: text }, timeToFirstChunkMs: expect.any(Number) } },
  });
});

test.each(models)('%s: errors are recorded once, with the provider’s code', async (_name, create) => {
  await expect(generateText(call(create()('bad-request')))).rejects.toThrow('It is 400.');
  await expect(generateText(call(create()('unavailable')))).rejects.toThrow();
  expect(await recorded()).toMatchObject([
    { status: { state: 'error', error: { httpStatus: 400 } } },
    { status: { state: 'error', error: { httpStatus: 503 } }, properties: { llm: { retries: 1 } } },
  ]);
});

test('a stream with an error is recorded with the error and the text before it', async () => {
  const [, create] = models[0] ?? [];
  const result = streamText({ ...call(create?.()('error-in-stream') ?? 'none'), onError: () => {} });
  for await (const _ of result.textStream);
  const [event, ...others] = await recorded();
  expect(others).toEqual([]);
  expect(event).toMatchObject({
    status: { state: 'error', error: { code: 'error' } },
    properties: { llm: { output: { finishReason: 'error', response: expect.stringMatching(/^It is/) } } },
  });
});

test('an aborted stream is recorded once', async () => {
  const controller = new AbortController();
  const [, create] = models[0] ?? [];
  const result = streamText({ ...call(create?.()('slow') ?? 'none'), abortSignal: controller.signal });
  for await (const _ of result.textStream) controller.abort();
  expect(await recorded()).toMatchObject([{ status: { state: 'error', error: { code: 'aborted' } } }]);
});

test('nested generations belong to the trace of the tool around them, which is their parent', async () => {
  const [, create] = models[0] ?? [];
  const model = create?.() ?? (() => 'none');
  const nested = {
    ...tools,
    get_weather: tool({
      inputSchema: jsonSchema({ type: 'object' }),
      execute: async () => (await generateText(call(model('text')))).text,
    }),
  };
  await generateText({ ...call(model('agent')), tools: nested, stopWhen: isStepCount(5) });
  const events = await recorded();
  expect(events).toHaveLength(5);
  expect(new Set(events.map(({ traceId }) => traceId)).size).toBe(1);
  const outer = events.find(({ properties }) => properties.tool?.name === 'get_weather');
  expect(events.filter((event) => event.additionalProperties['otel.parent_event_id'] === outer?.id)).toEqual([
    expect.objectContaining({ type: 'llm' }),
  ]);
});

test('a model of the AI SDK that is observed only by its fetch is recorded', async () => {
  const openai = createOpenAI({ baseURL: provider.url, apiKey: 'k', fetch: weir.fetch() });
  await generateText({ model: openai.chat('tools'), prompt: 'Hi' });
  expect((await recorded())[0]?.properties.llm?.output?.toolCalls).toEqual(expectedToolCalls);
});
