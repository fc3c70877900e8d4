import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { Weir } from '../src/index.ts';
import { llmEvent } from './support/events.ts';
import { eventually } from './support/eventually.ts';
import { startProgram } from './support/program.ts';
import { type Provider, startProvider } from './support/provider.ts';
import { text } from './support/provider-bodies.ts';
import { WeirStub } from './support/weir-stub.ts';

/*
 * One test for each complaint of users about other observability SDKs. The comparison of observed with bare
 * clients in `differential/` covers most of them as well.
 */

let provider: Provider;
let stub: WeirStub;
let weir: Weir;
let openai: OpenAI;
let anthropic: Anthropic;
beforeAll(async () => {
  provider = await startProvider();
});
afterAll(() => provider[Symbol.asyncDispose]());
beforeEach(async () => {
  stub = await WeirStub.start();
  weir = new Weir({ url: stub.url, apiKey: 'key', flushOnExit: false });
  openai = weir.observe(new OpenAI({ baseURL: provider.url, apiKey: 'k' }));
  anthropic = weir.observe(new Anthropic({ baseURL: provider.url.replace('/v1', ''), apiKey: 'k' }));
});
afterEach(() => stub.close());

const messages = [{ role: 'user' as const, content: 'Hi' }];
const chat = (model = 'text') => ({ model, messages });
const chatStream = (model = 'text') => ({ model, messages, stream: true as const });
const message = (model = 'text') => ({ model, messages, max_tokens: 9 });

async function recorded() {
  await weir.flush();
  return stub.events;
}

test('1 .withResponse() is lost (opentelemetry-js-contrib#3286, sentry-javascript#19073, posthog-js#3624)', async () => {
  const { data, response } = await openai.chat.completions.create(chat()).withResponse();
  expect([data.choices[0]?.message.content, response.status]).toEqual([text, 200]);
  expect((await anthropic.messages.create(message()).withResponse()).request_id).toBe('req_1');
});

test('2 the body of asResponse() is consumed (openinference#3429)', async () => {
  const response = await openai.chat.completions.create(chat()).asResponse();
  await recorded();
  expect(response.bodyUsed).toBe(false);
  expect(await response.json()).toMatchObject({ id: 'chatcmpl-1' });
});

test('3 .parse crashes (openinference#1799)', async () => {
  const format = { type: 'json_schema' as const, json_schema: { name: 'city', schema: {} } };
  const result = await openai.chat.completions.parse({ ...chat('json'), response_format: format });
  expect(result.choices[0]?.message.content).toBe('{"city":"Bern"}');
});

test('4 messages.stream().on is broken (sentry-javascript#17734)', async () => {
  const deltas: string[] = [];
  const stream = anthropic.messages.stream(message()).on('text', (delta) => deltas.push(delta));
  await stream.finalMessage();
  expect(deltas.join('')).toBe(text);
});

test('5 a stream is buffered (sentry-javascript#18962)', async () => {
  // The provider never ends this stream: the chunk would not arrive if the SDK waited for the end.
  for await (const chunk of await openai.chat.completions.create(chatStream('slow'))) {
    if (chunk.choices[0]?.delta.content) break;
  }
  expect(await recorded()).toHaveLength(1);
});

test('6 a synchronous call becomes a promise (sentry-javascript#17553)', () => {
  expect(openai.chat.completions.stream(chat())).not.toBeInstanceOf(Promise);
  expect(anthropic.messages.stream(message())).not.toBeInstanceOf(Promise);
  expect(weir.tool('now', () => 1)()).toBe(1);
});

test('7 models.list().data is undefined (langfuse#7789)', async () => {
  expect((await openai.models.list()).data[0]?.id).toBe('text');
  expect((await anthropic.models.list()).data[0]?.id).toBe('text');
});

describe('8 the tokens of a stream are missing (openllmetry#627)', () => {
  test('Anthropic and Responses report them', async () => {
    await anthropic.messages.stream(message()).finalMessage();
    await openai.responses.stream({ model: 'text', input: 'Hi' }).finalResponse();
    const usages = (await recorded()).map(({ properties }) => properties.llm?.usage?.totalTokens);
    expect(usages).toEqual([150, 150]);
  });

  test('with includeUsage the usage of a chat is requested, and the application gets the same stream as without it', async () => {
    const observed = weir.observe(new OpenAI({ baseURL: provider.url, apiKey: 'k' }), { includeUsage: true });
    const bare = new OpenAI({ baseURL: provider.url, apiKey: 'k' });
    const read = async (client: OpenAI) =>
      (await client.chat.completions.create(chatStream()).asResponse()).text();
    expect(await read(observed)).toBe(await read(bare));
    expect((await recorded())[0]?.properties.llm).toMatchObject({
      output: { response: text },
      usage: { totalTokens: 150, outputTokenDetails: { reasoningTokens: 10 } },
    });
  });
});

test('9 a break or an abort loses the event (openlit#1515, mastra#15302)', async () => {
  for await (const _ of await openai.chat.completions.create(chatStream('slow'))) break;
  const stream = anthropic.messages.stream(message('slow'));
  stream.on('text', () => stream.abort());
  await stream.done().catch(() => {});
  expect((await recorded()).map(({ status }) => status.error?.code)).toEqual(['aborted', 'aborted']);
});

test('10 observing twice records twice (langfuse#9344, openinference#2101)', async () => {
  const fetched = new OpenAI({ baseURL: provider.url, apiKey: 'k', fetch: weir.fetch({}, weir.fetch()) });
  const twice = weir.observe(weir.observe(fetched));
  await twice.chat.completions.create(chat());
  await twice.withOptions({ timeout: 5_000 }).chat.completions.create(chat());
  expect(await recorded()).toHaveLength(2);
});

test('11 the ESM and the CommonJS copy do not know each other (openinference#3557)', async () => {
  vi.resetModules();
  const copy = await import('../src/index.ts');
  const other = new copy.Weir({ url: stub.url, apiKey: 'key', flushOnExit: false });
  await other.observe(openai).chat.completions.create(chat());
  await other.flush();
  expect(await recorded()).toHaveLength(1);
});

test('12 the build for the edge fails (posthog-js-lite#456): only the spool imports modules of Node', () => {
  const root = fileURLToPath(new URL('../src', import.meta.url));
  const sources = globSync('**/*.ts', { cwd: root });
  const withNode = sources.filter((file) =>
    /from '(node:|fs|path)/.test(readFileSync(join(root, file), 'utf8')),
  );
  expect(sources.length).toBeGreaterThan(40);
  expect(withNode.filter((file) => !file.startsWith('spool/'))).toEqual([]);
});

describe('13 events are lost at the freeze or exit (sentry-javascript#23087, analytics-next#1092)', () => {
  test('a Lambda handler resolves when its events are delivered', async () => {
    const handler = weir.lambda(async (event: { n: number }) => {
      weir.record(llmEvent());
      return event.n + 1;
    });
    expect(await handler({ n: 1 })).toBe(2);
    expect(stub.events).toHaveLength(1);
    await expect(weir.lambda(() => Promise.reject(new Error('no')))(undefined)).rejects.toThrow('no');
  });

  test('waitUntil gets a promise that resolves after delivery', async () => {
    const waiting: Promise<unknown>[] = [];
    weir.context({ waitUntil: (promise) => waiting.push(promise) }, () => {
      weir.record(llmEvent());
      weir.record(llmEvent());
    });
    await Promise.all(waiting);
    expect(stub.events).toHaveLength(2);
    expect(stub.requests).toHaveLength(1);
  });

  test('Vercel’s request context is found', async () => {
    const waiting: Promise<unknown>[] = [];
    const key = Symbol.for('@vercel/request-context');
    Reflect.set(globalThis, key, {
      get: () => ({ waitUntil: (promise: Promise<unknown>) => waiting.push(promise) }),
    });
    weir.record(llmEvent());
    Reflect.deleteProperty(globalThis, key);
    await Promise.all(waiting);
    expect(stub.events).toHaveLength(1);
  });

  test('a program that ends delivers first', async () => {
    const program = startProgram('end', { WEIR_URL: stub.url, WEIR_API_KEY: 'key' });
    expect(await program.ended).toBe(0);
    expect(stub.events).toHaveLength(5);
  });
});

test('14 memory grows without bound (langfuse#9225, langsmith-sdk#2227)', async () => {
  await stub.close();
  for (let i = 0; i < 12_000; i++) weir.record(llmEvent('x'.repeat(4_000)));
  expect(weir.stats().pending).toBeLessThanOrEqual(10_000);
  expect(weir.stats().droppedByReason.queue_full).toBeGreaterThan(2_000);
  await stub.open();
});

test('15 unhandled rejections and circular values (analytics-node#326, langsmith-sdk#962)', async () => {
  const unhandled = vi.fn();
  process.on('unhandledRejection', unhandled);
  stub.respond = (_, response) => Boolean(response.destroy());
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  weir.record({ type: 'tool', properties: { tool: { input: circular } } });
  expect(await weir.flush({ timeoutMs: 200 })).toMatchObject({ pending: 1 });
  await new Promise(setImmediate);
  expect(unhandled).not.toHaveBeenCalled();
  // Unhandled rejections of the application are still reported.
  void openai.chat.completions.create(chat('bad-request'));
  weir.tool('fail', () => Promise.reject(new Error('of the tool')))();
  await eventually(() => expect(unhandled).toHaveBeenCalledTimes(2));
  process.off('unhandledRejection', unhandled);
});

test('a server that closes the connection during a response does not end the process', async () => {
  stub.respond = (_, response) => {
    response.writeHead(202, { 'content-length': '100' });
    response.write('{');
    response.destroy();
    return true;
  };
  weir.record(llmEvent());
  expect(await weir.flush({ timeoutMs: 200 })).toMatchObject({ pending: 1 });
});

test('a failed call with maxRetries 0 is recorded at once', async () => {
  const options = { timeout: 100, maxRetries: 0 };
  await openai.chat.completions.create(chat('hang'), options).catch(() => {});
  await anthropic.messages.create(message('hang'), options).catch(() => {});
  expect((await recorded()).map(({ status }) => status.error?.code)).toEqual(['timeout', 'timeout']);
});

describe('a call whose attempts time out by the option of the constructor is one event, called a time-out', () => {
  const options = { apiKey: 'k', timeout: 250, maxRetries: 1 };
  const hang = { model: 'hang', messages, max_tokens: 9 };
  const anthropicUrl = () => provider.url.replace('/v1', '');
  const calls: [string, () => Promise<unknown>][] = [
    [
      'OpenAI, observed',
      () => weir.observe(new OpenAI({ ...options, baseURL: provider.url })).chat.completions.create(hang),
    ],
    [
      'OpenAI, with weir.fetch()',
      () =>
        new OpenAI({ ...options, baseURL: provider.url, fetch: weir.fetch() }).chat.completions.create(hang),
    ],
    [
      'OpenAI, in the body',
      () =>
        weir
          .observe(new OpenAI({ ...options, baseURL: provider.url }))
          .chat.completions.create(chat('hang-in-body')),
    ],
    [
      'Anthropic, observed',
      () => weir.observe(new Anthropic({ ...options, baseURL: anthropicUrl() })).messages.create(hang),
    ],
    [
      'Anthropic, with the middleware',
      () =>
        new Anthropic({
          ...options,
          baseURL: anthropicUrl(),
          middleware: [weir.anthropic()],
        }).messages.create(hang),
    ],
  ];
  test.each(calls)('%s', async (_, call) => {
    await expect(call()).rejects.toThrow(/timed out/);
    await weir.shutdown();
    expect(stub.events.map(({ status }) => status.error?.code)).toEqual(['timeout']);
    expect(stub.events[0]?.properties.llm?.retries).toBe(1);
  });
});

test('an abort by the application is no time-out, whatever the time-out of the client', async () => {
  const client = weir.observe(new OpenAI({ baseURL: provider.url, apiKey: 'k', timeout: 60_000 }));
  const before = provider.requests.length;
  const controller = new AbortController();
  const settled = client.chat.completions.create(chat('hang'), { signal: controller.signal }).catch(() => {});
  await eventually(() => expect(provider.requests.length).toBeGreaterThan(before));
  controller.abort();
  await settled;
  expect((await recorded()).map(({ status }) => status.error?.code)).toEqual(['aborted']);
});

test('a client that takes no fetch is returned as it is', async () => {
  const foreign = { generate: () => 1 };
  expect(weir.observe(foreign)).toBe(foreign);
  const disabled = new Weir({ url: stub.url, apiKey: 'k', enabled: false });
  const bare = disabled.observe(new OpenAI({ baseURL: provider.url, apiKey: 'k' }));
  await bare.chat.completions.create(chat());
  expect(disabled.stats().recorded).toBe(0);
});
