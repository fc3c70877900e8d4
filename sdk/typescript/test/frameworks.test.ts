import { afterEach, beforeEach, expect, test } from 'vitest';
import { Weir, type WeirEvent } from '../src/index.ts';
import { weirCallbacks } from '../src/langchain.ts';
import { weirTraceProcessor } from '../src/openai-agents.ts';
import { WeirStub } from './support/weir-stub.ts';

// What the real frameworks do is in test/matrix/frameworks.matrix.ts: these are reports that are rare there.

let stub: WeirStub;
let weir: Weir;
beforeEach(async () => {
  stub = await WeirStub.start();
  weir = new Weir({ url: stub.url, apiKey: 'key', flushOnExit: false });
});
afterEach(() => stub.close());

async function recorded(): Promise<WeirEvent[]> {
  await weir.flush();
  return stub.events;
}

const path = (event: WeirEvent | undefined) => event?.additionalProperties['span.path'];

const span = (spanId: string, parentId: string | null, spanData: object, error: object | null = null) => ({
  traceId: `trace_${'0123456789abcdef'.repeat(2)}`,
  spanId,
  parentId,
  spanData,
  error: error as { message: string } | null,
});

test('agents: the output of a model that is not OpenAI’s, and the trace of all processes', async () => {
  const processor = weirTraceProcessor(weir);
  const output = [
    { role: 'assistant', content: [{ type: 'output_text', text: 'It is warm.' }] },
    { type: 'function_call', callId: 'c', name: 'get_weather', arguments: '{"city":"Bern"}' },
  ];
  const call = {
    type: 'generation',
    model: 'm',
    input: [{ role: 'user', content: 'Hi' }],
    output,
    usage: { input_tokens: 3, output_tokens: 4 },
  };
  await processor.onSpanStart(span('a', null, { type: 'agent', name: 'planner' }));
  await processor.onSpanStart(span('t', 'a', { type: 'turn', turn: 1 }));
  await processor.onSpanStart(span('g', 't', call));
  await processor.onSpanEnd(span('g', 't', call));
  await processor.onSpanEnd(span('g', 't', call));
  await processor.onSpanEnd(span('never started', 't', call));
  expect(await recorded()).toEqual([
    expect.objectContaining({
      traceId: '01234567-89ab-4def-8123-456789abcdef',
      context: { agentId: 'planner' },
      additionalProperties: expect.objectContaining({ 'span.path': 'planner' }),
    }),
  ]);
  expect(stub.events[0]?.properties.llm).toMatchObject({
    model: 'm',
    input: { prompt: 'Hi' },
    output: {
      mode: 'tool_calls',
      response: 'It is warm.',
      toolCalls: [{ id: 'c', name: 'get_weather', arguments: '{"city":"Bern"}' }],
    },
    usage: { totalTokens: 7 },
  });
});

test('agents: a span whose parent is unknown, and spans with no content', async () => {
  const processor = weirTraceProcessor(weir, { getCurrentSpan: () => ({ spanId: 'unknown' }) });
  await processor.onSpanStart(span('f', 'elsewhere', { type: 'function', name: 'get_rate', input: '' }));
  await processor.onSpanEnd(
    span(
      'f',
      'elsewhere',
      { type: 'function', name: 'get_rate', input: 'CHF', output: '' },
      { message: 'No.' },
    ),
  );
  await processor.onSpanStart(span('r', null, { type: 'response' }));
  await processor.onSpanEnd(span('r', null, { type: 'response' }));
  expect(await recorded()).toMatchObject([
    { status: { error: { message: 'No.' } }, properties: { tool: { name: 'get_rate', input: 'CHF' } } },
    { type: 'llm', status: { state: 'ok' } },
  ]);
});

test('langchain: a completion model, details of graphs, and a tool that returns its error', async () => {
  const handler = weirCallbacks(weir);
  expect(weirCallbacks(weir)).toBe(handler);
  expect(handler.copy()).toBe(handler);
  handler.handleChainStart(
    {},
    {},
    'graph',
    undefined,
    ['graph:step:1'],
    { langgraph_node: 'n' },
    'chain',
    'graph',
  );
  handler.handleChainStart({}, {}, 'hidden', 'graph', ['langsmith:hidden'], {}, 'chain', 'ChannelWrite');
  handler.handleLLMStart({}, ['Hi'], 'llm', 'hidden', { invocation_params: { model: 'm' } }, [], {
    ls_provider: 'ollama',
    session_id: 's',
    plan: 'pro',
    checkpoint_ns: 'x',
  });
  handler.handleLLMEnd(
    {
      generations: [[{ text: 'Hello.', generationInfo: { finish_reason: 'stop' } }]],
      llmOutput: { tokenUsage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 } },
    },
    'llm',
  );
  handler.handleToolStart({ id: ['x', 'Search'] }, '{"q":1}', 'tool', 'graph', [], {}, undefined, 'call_1');
  handler.handleToolEnd({ content: 'No such page.', tool_call_id: 'call_1', status: 'error' }, 'tool');
  handler.handleToolEnd('again', 'tool');
  handler.handleChainEnd({}, 'graph');
  const [model, tool] = await recorded();
  expect(stub.events).toHaveLength(2);
  expect(model).toMatchObject({
    context: { threadId: 's' },
    instrumentation: { source: 'ollama' },
    properties: {
      llm: {
        model: 'm',
        input: { prompt: 'Hi' },
        output: { response: 'Hello.', finishReason: 'stop' },
        usage: { totalTokens: 3 },
      },
    },
  });
  expect(model?.additionalProperties).toEqual({
    plan: 'pro',
    'span.path': 'graph',
    'span.ids': expect.any(String),
  });
  expect([path(tool), tool?.traceId]).toEqual(['graph', model?.traceId]);
  expect(tool).toMatchObject({
    status: { state: 'error', error: { message: 'No such page.' } },
    properties: { tool: { name: 'Search', callId: 'call_1', input: { q: 1 } } },
  });
});

test('inside of weir.trace the thread and the user of a run win, with its dimensions', async () => {
  const outer = { threadId: 'outer', userId: 'outer', agentId: 'a', additionalProperties: { plan: 'free' } };
  const processor = weirTraceProcessor(weir);
  await weir.trace(async () => {
    const handler = weirCallbacks(weir);
    const metadata = { thread_id: 'own', user_id: 'ada', plan: 'pro' };
    handler.handleLLMStart({}, ['Hi'], 'own', undefined, {}, [], metadata);
    handler.handleLLMEnd({ generations: [] }, 'own');
    handler.handleLLMStart({}, ['Hi'], 'none', undefined, {}, [], {});
    handler.handleLLMEnd({ generations: [] }, 'none');
    const call = span('g', null, { type: 'generation' });
    await processor.onTraceStart({ traceId: call.traceId, name: 'n', groupId: 'group' });
    await processor.onSpanStart(call);
    await processor.onSpanEnd(call);
  }, outer);
  const [own, none, agents] = await recorded();
  expect(own?.context).toEqual({ threadId: 'own', userId: 'ada', agentId: 'a' });
  expect(own?.additionalProperties).toEqual({ plan: 'pro' });
  expect(none?.context).toEqual({ threadId: 'outer', userId: 'outer', agentId: 'a' });
  expect(none?.additionalProperties).toEqual({ plan: 'free' });
  expect(agents?.context).toEqual({ threadId: 'group', userId: 'outer', agentId: 'a' });
});

test('runs whose end is never reported are recorded at the end, and more than 10,000 are not kept', async () => {
  const handler = weirCallbacks(weir);
  for (let run = 0; run <= 10_000; run++) handler.handleChainStart({}, {}, `chain ${run}`);
  handler.handleLLMStart({}, ['Hi'], 'late');
  await weir.shutdown();
  expect(stub.events).toMatchObject([{ status: { error: { code: 'aborted' } } }]);
});
