import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Weir, type WeirEvent } from '../../src/index.ts';
import { observeLangChain, weirCallbacks } from '../../src/langchain.ts';
import { weirTraceProcessor } from '../../src/openai-agents.ts';
import { llmEvent } from '../support/events.ts';
import { type Provider, startProvider } from '../support/provider.ts';
import { expectedToolCalls, text } from '../support/provider-bodies.ts';
import { WeirStub } from '../support/weir-stub.ts';
import { requireVersion } from './places.ts';

let provider: Provider;
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

async function recorded(): Promise<WeirEvent[]> {
  expect(await weir.flush()).toMatchObject({ dropped: 0, pending: 0 });
  return stub.events;
}

const path = (event: WeirEvent | undefined) => event?.additionalProperties['span.path'];
const parentOf = (event: WeirEvent | undefined) => event?.additionalProperties['otel.parent_event_id'];
const named = (events: WeirEvent[], name: string) =>
  events.find(({ properties }) => (properties.tool?.name ?? properties.llm?.model) === name);

describe('@openai/agents', () => {
  const agents = () => requireVersion('@openai/agents');

  function openAgent(api: string, isObserved: boolean) {
    const { Agent, tool, setDefaultOpenAIClient, setOpenAIAPI, setTraceProcessors, setTracingDisabled } =
      agents();
    const OpenAI = requireVersion('openai').default;
    const client = new OpenAI({ baseURL: provider.url, apiKey: 'k', maxRetries: 0 });
    setDefaultOpenAIClient(isObserved ? weir.observe(client) : client);
    setOpenAIAPI(api);
    setTracingDisabled(false);
    const { getCurrentSpan } = agents();
    setTraceProcessors([weirTraceProcessor(weir, { getCurrentSpan })]);
    const create = (name: string, execute: (input: unknown) => unknown) =>
      tool({
        name,
        description: name,
        strict: false,
        parameters: { type: 'object', properties: {}, required: [], additionalProperties: true },
        execute,
      });
    const weather = create('get_weather', () =>
      weir.span('look up', () => {
        weir.record({ ...llmEvent(), properties: { llm: { model: 'inside' } } });
        return { celsius: 21 };
      }),
    );
    const rate = create('get_rate', () => {
      throw new RangeError('No such currency.');
    });
    return (model: string) =>
      new Agent({ name: 'traveller', instructions: 'Be brief.', model, tools: [weather, rate] });
  }

  test.each(
    ['responses', 'chat_completions'].flatMap((api) => [false, true].map((isStream) => ({ api, isStream }))),
  )('an agent on $api, stream: $isStream', async ({ api, isStream }) => {
    const agent = openAgent(api, true)('agent');
    const { run, withTrace } = agents();
    const result = await withTrace(
      'trip',
      async () => {
        const running = await run(agent, 'How warm is it?', { stream: isStream });
        if (isStream) for await (const _ of running);
        return running;
      },
      { groupId: 'thread-1' },
    );
    expect(result.finalOutput).toBe(text);
    const events = await recorded();
    // Two model calls, two tools, and what the application recorded inside a tool: none twice.
    expect(events.map(({ type }) => type).sort()).toEqual(['llm', 'llm', 'llm', 'tool', 'tool']);
    expect(new Set(events.map(({ traceId }) => traceId)).size).toBe(1);
    const weather = named(events, 'get_weather');
    expect(weather).toMatchObject({
      context: { agentId: 'traveller', threadId: 'thread-1' },
      status: { state: 'ok' },
      properties: { tool: { output: { celsius: 21 } } },
    });
    expect(JSON.stringify(weather?.properties.tool?.input)).toContain('Bern');
    expect(named(events, 'get_rate')?.status).toMatchObject({
      state: 'error',
      // By default the Agents SDK keeps the details of tools' errors to itself.
      error: { message: expect.stringContaining('Error running tool') },
    });
    const inside = named(events, 'inside');
    expect([parentOf(inside), path(inside)]).toEqual([weather?.id, 'traveller > look up']);
    const calls = events.filter(({ instrumentation }) => instrumentation.sourcePackage === '@openai/agents');
    const [first, last] = calls.filter(({ type }) => type === 'llm');
    expect(first).toMatchObject({
      context: { agentId: 'traveller', threadId: 'thread-1' },
      additionalProperties: { 'span.path': 'traveller' },
      status: { state: 'ok' },
      properties: {
        llm: {
          input: { prompt: 'How warm is it?' },
          output: { mode: 'tool_calls', toolCalls: expectedToolCalls },
          usage: { inputTokens: 120, outputTokens: 30, totalTokens: 150 },
        },
      },
    });
    expect(last?.properties.llm?.output?.response).toBe(text);
  });

  test('a failed model call is recorded with its error, in the trace around the run', async () => {
    const agent = openAgent('responses', false)('bad-request');
    const { run } = agents();
    await weir.trace(() => expect(run(agent, 'Hi')).rejects.toThrow('It is 400.'), {
      name: 'job',
      userId: 'u',
    });
    expect(await recorded()).toEqual([
      expect.objectContaining({
        context: { agentId: 'traveller', userId: 'u' },
        additionalProperties: expect.objectContaining({ 'span.path': 'job > traveller' }),
        status: { state: 'error', error: { message: expect.stringContaining('It is 400.') } },
      }),
    ]);
  });
});

describe('langchain', () => {
  const core = (part: string) => requireVersion(`@langchain/core/${part}`);
  const openModel = (model: string) => {
    const { ChatOpenAI } = requireVersion('@langchain/openai');
    return new ChatOpenAI({
      model,
      apiKey: 'k',
      maxRetries: 0,
      configuration: { baseURL: provider.url },
    });
  };
  const messages = () => {
    const { HumanMessage, SystemMessage } = core('messages');
    return [new SystemMessage('Be brief.'), new HumanMessage('How warm is it?')];
  };
  const callbacks = () => [weirCallbacks(weir)];

  test.each([false, true])('a model, stream: %s', async (isStream) => {
    const model = openModel('text');
    const config = { callbacks: callbacks(), tags: ['a'], metadata: { thread_id: 't', plan: 'pro' } };
    if (isStream) for await (const _ of await model.stream(messages(), config));
    else expect((await model.invoke(messages(), config)).content).toBe(text);
    const events = await recorded();
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({
      traceId: expect.any(String),
      context: { threadId: 't' },
      additionalProperties: { plan: 'pro', tags: 'a' },
      instrumentation: { source: 'openai', sourcePackage: 'langchain' },
      status: { state: 'ok' },
      properties: {
        llm: {
          model: 'gpt-test-2026',
          input: { system: 'Be brief.', prompt: 'How warm is it?' },
          output: { mode: 'text', response: text, finishReason: 'stop' },
          usage: {
            totalTokens: 150,
            inputTokenDetails: { cacheReadTokens: 64 },
            outputTokenDetails: { reasoningTokens: 10 },
          },
          ...(isStream && { timeToFirstChunkMs: expect.any(Number) }),
        },
      },
    });
    expect(events[0]?.additionalProperties).not.toHaveProperty('ls_provider');
  });

  test.each([false, true])('tool calls keep their digits, stream: %s', async (isStream) => {
    const model = openModel('tools');
    if (isStream) for await (const _ of await model.stream('Hi', { callbacks: callbacks() }));
    else await model.invoke('Hi', { callbacks: callbacks() });
    expect((await recorded())[0]?.properties.llm?.output?.toolCalls).toEqual(expectedToolCalls);
  });

  test('chains and retrievers are the parents of what they run, and a tool is a parent by its event', async () => {
    const { RunnableLambda } = core('runnables');
    const { BaseRetriever } = core('retrievers');
    const { tool } = core('tools');
    class Documents extends BaseRetriever {
      lc_namespace = ['test'];
      async _getRelevantDocuments(query: string, manager: { getChild(): unknown }) {
        await openModel('text').invoke(query, { callbacks: manager.getChild() });
        return [];
      }
    }
    const weather = tool(
      async (_: unknown, config: object) => (await openModel('text').invoke('Hi', config)).content,
      { name: 'get_weather', description: 'd', schema: { type: 'object', properties: {} } },
    );
    const rate = tool(
      async () => {
        throw new RangeError('No such currency.');
      },
      { name: 'get_rate', description: 'd', schema: { type: 'object', properties: {} } },
    );
    const chain = RunnableLambda.from(async (_: string, config: object) => {
      await new Documents().invoke('q', config);
      const [call] = expectedToolCalls;
      await weather.invoke(
        { type: 'tool_call', id: call?.id, name: 'get_weather', args: { city: 'Bern' } },
        config,
      );
      await rate.invoke({}, config).catch(() => {});
      return (await openModel('text').invoke('Hi', config)).content;
    }).withConfig({ runName: 'answer' });
    await weir.trace(() => chain.invoke('Hi', { callbacks: callbacks() }), { name: 'job', userId: 'u' });
    const events = await recorded();
    const [tools, models] = [
      events.filter(({ type }) => type === 'tool'),
      events.filter(({ type }) => type === 'llm'),
    ];
    expect(tools.map(({ status, properties }) => [properties.tool, status.error?.message])).toEqual([
      [{ name: 'get_weather', callId: 'call_1', input: { city: 'Bern' }, output: text }, undefined],
      [{ name: 'get_rate', input: {} }, 'No such currency.'],
    ]);
    expect(models.map((event) => [path(event), parentOf(event)])).toEqual([
      ['job > answer > Documents', undefined],
      ['job > answer', tools[0]?.id],
      ['job > answer', undefined],
    ]);
    expect(new Set(events.map(({ traceId }) => traceId)).size).toBe(1);
    for (const { context } of events) expect(context).toEqual({ userId: 'u' });
  });

  test('errors are recorded once and thrown unchanged, and so are streams that are not read to their end', async () => {
    await expect(openModel('bad-request').invoke('Hi', { callbacks: callbacks() })).rejects.toThrow(
      'It is 400.',
    );
    for await (const _ of await openModel('slow').stream('Hi', { callbacks: callbacks() })) break;
    await weir.shutdown();
    expect(stub.events).toMatchObject([
      { status: { state: 'error', error: { httpStatus: 400 } } },
      { status: { state: 'error', error: { code: 'aborted' } } },
    ]);
  });

  test('an observed model is recorded wherever it is used, once, also with the handler in a call', async () => {
    const model = observeLangChain(weir, openModel('text'));
    expect(observeLangChain(weir, model)).toBe(model);
    await model.invoke('Hi');
    await model.invoke('Hi', { callbacks: callbacks() });
    await model.bindTools([]).invoke('Hi');
    expect(await recorded()).toHaveLength(3);
  });
});
