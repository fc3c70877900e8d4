import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Weir } from '../src/index.ts';
import { WeirStub } from './support/weir-stub.ts';

/* Unusual responses of providers, proxies and custom fetch functions: none may be lost, changed or slow. */

let stub: WeirStub;
let weir: Weir;
beforeEach(async () => {
  stub = await WeirStub.start();
  weir = new Weir({ url: stub.url, apiKey: 'key', flushOnExit: false });
});
afterEach(() => stub.close());

const address = 'http://provider.test/v1/chat/completions';
const request = { method: 'POST', body: '{"model":"m","stream":true,"messages":[]}' };
const chunk = (delta: object, index = 0, reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c1', model: 'm', choices: [{ index, delta, finish_reason: reason }] })}\n\n`;
const end = `${chunk({}, 0, 'stop')}data: [DONE]\n\n`;

/** A fetch whose response has these chunks. */
function answering(pieces: readonly string[], headers: Record<string, string> = sse): typeof fetch {
  return async () => new Response(streamOf(pieces), { headers });
}

const sse = { 'content-type': 'text/event-stream' };

function streamOf(pieces: readonly string[]): ReadableStream<Uint8Array> {
  return ReadableStream.from(pieces.map((piece) => new TextEncoder().encode(piece)));
}

/** Reads a response as an application does. @returns the recorded event. */
async function record(base: typeof fetch, options: { includeUsage?: boolean } = {}) {
  const text = await (await weir.fetch(options, base)(address, request)).text();
  await weir.shutdown();
  const [event] = stub.events;
  return { text, event, llm: event?.properties.llm, status: event?.status };
}

describe('a stream whose response object is collected before its end is recorded whole', () => {
  test.each([false, true])('with includeUsage %s', async (includeUsage) => {
    setFlagsFromString('--expose-gc');
    const collect: () => void = runInNewContext('gc');
    const streams: ServerResponse[] = [];
    const server = createServer((_, response) => void streams.push(response.writeHead(200, sse)));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/chat/completions`;
    const observed = weir.fetch({ includeUsage });
    const open = async () => {
      const sent = observed(url, request);
      while (streams.length === 0) await turn();
      streams[0]?.write(chunk({ content: 'first ' }));
      return (await sent).body?.getReader();
    };
    const reader = await open();
    await reader?.read();
    for (let round = 0; round < 20; round++) {
      collect();
      await turn();
    }
    streams[0]?.end(`${chunk({ content: 'last' })}${end}`);
    while (!(await reader?.read())?.done);
    await weir.flush();
    expect(stub.events.map(({ properties }) => properties.llm?.output?.response)).toEqual(['first last']);
    await new Promise((resolve) => server.close(resolve));
  });
});

describe('numbers of a provider', () => {
  test('a huge index of a choice or a tool call costs no time', async () => {
    const call = { index: 400_000_000, id: 'a', function: { name: 'f', arguments: '{}' } };
    const pieces = [chunk({ content: 'far' }, 300_000_000), chunk({ tool_calls: [call] }), end];
    const { llm } = await record(answering(pieces));
    expect(llm?.output).toMatchObject({ toolCalls: [{ id: 'a', name: 'f', arguments: '{}' }] });
    expect(llm?.output?.otherResponses).toEqual(['far']);
  });

  test('with a gap between choices their texts and the usage are recorded', async () => {
    const usage = 'data: {"id":"c1","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}\n\n';
    const done = [chunk({}, 1, 'stop'), chunk({}, 3, 'stop'), usage, 'data: [DONE]\n\n'];
    const { llm } = await record(
      answering([chunk({ content: 'b' }, 3), chunk({ content: 'a' }, 1), ...done]),
    );
    expect(llm?.output).toMatchObject({ response: 'a', otherResponses: ['b'] });
    expect(llm?.usage).toMatchObject({ inputTokens: 1, outputTokens: 2 });
    expect(llm?.output?.finishReason).toBe('stop');
  });

  test('parallel tool calls with the same index are kept apart', async () => {
    const call = (id: string | undefined, text: string) =>
      chunk({ tool_calls: [{ index: 0, id, function: { name: id && 'f', arguments: text } }] });
    const { llm } = await record(
      answering([call('a', '{"n"'), call(undefined, ':1}'), call('b', '{"n":'), call(undefined, '2}'), end]),
    );
    expect(llm?.output?.toolCalls).toEqual([
      { id: 'a', name: 'f', arguments: '{"n":1}' },
      { id: 'b', name: 'f', arguments: '{"n":2}' },
    ]);
  });
});

describe('the form of a stream', () => {
  test.each(['\r', '\r\n', '\n'])('line ends %j, cut anywhere, with includeUsage', async (lineEnd) => {
    const usage = 'data: {"id":"c1","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}\n\n';
    const asked = [chunk({ content: 'one ' }), chunk({ content: 'two' }), chunk({}, 0, 'stop')].join('');
    const pieces = [...`${asked}${usage}data: [DONE]\n\n`.replaceAll('\n', lineEnd)];
    const { text, llm } = await record(answering(pieces), { includeUsage: true });
    expect(text).toBe(`${asked}data: [DONE]\n\n`.replaceAll('\n', lineEnd));
    expect(llm).toMatchObject({ output: { response: 'one two' }, usage: { totalTokens: 3 } });
  });

  test.each(['text/plain', 'application/x-ndjson', 'TEXT/EVENT-STREAM', ''])(
    'a stream with the content type %j is recorded',
    async (type) => {
      const { llm, status } = await record(
        answering([chunk({ content: 'seen' }), end], type === '' ? {} : { 'content-type': type }),
      );
      expect([llm?.output?.response, status]).toEqual(['seen', { state: 'ok' }]);
    },
  );

  test('a long event in many chunks is joined once, and no chunk is searched twice', async () => {
    const image = 'x'.repeat(3_000_000);
    const event = chunk({ content: image });
    const pieces = event.match(/[\s\S]{1,256}/g) ?? [];
    const { llm } = await record(answering([...pieces, end]));
    expect(String(llm?.output?.response).length).toBe(image.length);
  }, 20_000);

  test('an event that is not JSON is recorded as the error of the call', async () => {
    const observed = weir.fetch(
      {},
      answering([chunk({ content: 'a' }), 'data: {"choices":[\n\n', chunk({})]),
    );
    const reader = (await observed(address, request)).body?.getReader();
    await reader?.read();
    await reader?.read();
    await reader?.cancel();
    await weir.shutdown();
    expect(stub.events[0]?.status.error?.code).toBe('malformed_answer');
  });
});

describe('reasoning and audio are recorded', () => {
  const textOf = async (path: string, base: typeof fetch) => {
    await (await weir.fetch({}, base)(`http://provider.test${path}`, request)).text();
    await weir.flush();
    return stub.events.at(-1)?.properties.llm?.output;
  };
  const json = (body: object) => answering([JSON.stringify(body)], { 'content-type': 'application/json' });
  const events = (...all: object[]) => answering(all.map((event) => `data: ${JSON.stringify(event)}\n\n`));

  test('chat completions', async () => {
    const path = '/v1/chat/completions';
    const message = { content: null, audio: { transcript: 'Mild.' }, reasoning_content: 'It is May.' };
    const whole = json({ choices: [{ message, finish_reason: 'stop' }] });
    expect(await textOf(path, whole)).toMatchObject({ response: 'Mild.', reasoning: 'It is May.' });
    const deltas = [
      chunk({ reasoning: 'It is ' }),
      chunk({ reasoning: 'May.' }),
      chunk({ content: 'Mild.' }),
      end,
    ];
    expect(await textOf(path, answering(deltas))).toMatchObject({
      response: 'Mild.',
      reasoning: 'It is May.',
    });
  });

  test('responses', async () => {
    const path = '/v1/responses';
    const item = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'It is May.' }] };
    const message = { type: 'message', content: [{ type: 'output_text', text: 'Mild.' }] };
    const whole = json({ status: 'completed', output: [item, message] });
    expect(await textOf(path, whole)).toMatchObject({ response: 'Mild.', reasoning: 'It is May.' });
    const cutOff = events(
      { type: 'response.output_item.added', output_index: 0, item: { type: 'reasoning' } },
      { type: 'response.reasoning_summary_text.delta', output_index: 0, delta: 'It is May.' },
    );
    expect(await textOf(path, cutOff)).toMatchObject({ response: '', reasoning: 'It is May.' });
  });

  test('messages', async () => {
    const path = '/v1/messages';
    const content = [
      { type: 'thinking', thinking: 'It is May.' },
      { type: 'text', text: 'Mild.' },
    ];
    expect(await textOf(path, json({ content }))).toMatchObject({
      response: 'Mild.',
      reasoning: 'It is May.',
    });
    const streamed = events(
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'It is May.' } },
      { type: 'message_stop' },
    );
    expect(await textOf(path, streamed)).toMatchObject({ response: '', reasoning: 'It is May.' });
  });
});

test('a client that observe() does not know is returned unchanged, with one warning', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  class Unknown {}
  const client = new Unknown();
  expect(weir.observe(client)).toBe(client);
  weir.observe(new Unknown());
  // A client of another API, such as Ollama's, may have a fetch.
  class Other {
    fetch = fetch;
  }
  const other = new Other();
  expect(weir.observe(other)).toBe(other);
  expect(other.fetch).toBe(fetch);
  expect(warn.mock.calls).toEqual([
    [expect.stringContaining('does not know Unknown')],
    [expect.stringContaining('does not know Other')],
  ]);
  warn.mockRestore();
});

describe('a body that is not a response of the API', () => {
  test('malformed JSON with a status of 200', async () => {
    const { status } = await record(answering(['{"choices":[{'], { 'content-type': 'application/json' }));
    expect(status).toMatchObject({ state: 'error', error: { code: 'malformed_answer' } });
  });

  test.each([
    ['no body', async () => new Response(null, { status: 204 })],
    ['a body that nobody reads', async () => new Response('', { headers: { 'content-length': '0' } })],
  ])('%s', async (_, base) => {
    await weir.fetch({}, base)(address, request);
    await weir.flush();
    expect(stub.events.map(({ status }) => status.error?.code)).toEqual(['empty_answer']);
  });
});

describe('a custom fetch', () => {
  const answer = '{"id":"c1","model":"m","choices":[{"message":{"content":"own"},"finish_reason":"stop"}]}';

  test('a plain object instead of a Response is returned unchanged and recorded', async () => {
    const own = { ok: true, status: 200, headers: new Headers(), json: async () => JSON.parse(answer) };
    const response = await weir.fetch({}, async () => own as unknown as Response)(address, request);
    expect(response).toBe(own);
    expect(await response.json()).toEqual(JSON.parse(answer));
    await weir.flush();
    expect(stub.events[0]?.properties.llm?.output?.response).toBe('own');
  });

  test('a response of a custom class keeps its methods and its stream', async () => {
    class NativeResponse {
      readonly ok = true;
      readonly status = 200;
      readonly headers = new Headers(sse);
      readonly #pieces: readonly string[];
      constructor(pieces: readonly string[]) {
        if (!Array.isArray(pieces)) throw new TypeError('made by native code only');
        this.#pieces = pieces;
      }
      get body() {
        return streamOf(this.#pieces);
      }
      async text() {
        return this.#pieces.join('');
      }
    }
    const pieces = [chunk({ content: 'native' }), end];
    const base = async () => new NativeResponse(pieces) as unknown as Response;
    const observed = weir.fetch({}, base);
    expect(await (await observed(address, request)).text()).toBe(pieces.join(''));
    const streamed = (await observed(address, request)).body ?? [];
    let text = '';
    for await (const bytes of streamed as AsyncIterable<Uint8Array>) text += new TextDecoder().decode(bytes);
    expect(text).toBe(pieces.join(''));
    await weir.flush();
    const responses = stub.events.map(({ properties }) => properties.llm?.output?.response);
    expect(responses).toEqual(['native', 'native']);
  });

  /** A response of a class that is read as its own fields, its methods and its stream allow. */
  class CachedResponse extends Response {
    readonly #key: string;
    constructor(key: string, inner: Response) {
      super(inner.body, inner);
      this.#key = key;
    }
    get key() {
      return this.#key;
    }
  }
  Object.defineProperty(CachedResponse.prototype, 'json', {
    value: async function json(this: CachedResponse) {
      return { key: this.key, content: await Response.prototype.json.call(this) };
    },
  });
  const wrapped = (inner: Response) => ({
    ok: inner.ok,
    status: inner.status,
    headers: inner.headers,
    body: inner.body,
    text: () => inner.text(),
    json: () => inner.json(),
  });
  const selfReading = (inner: Response) => ({
    ...wrapped(inner),
    async text() {
      return new Response(this.body).text();
    },
  });
  const proxied = (inner: Response) =>
    new Proxy(inner, {
      get(target, name) {
        if (name === 'key') return 'k';
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  type Read = (response: Response & { key?: string }) => Promise<unknown>;
  const unusual: [string, (inner: Response) => unknown, Read, unknown][] = [
    ['a subclass', (r) => new CachedResponse('k', r), async (r) => [r.key, await r.text()], ['k', answer]],
    [
      'a subclass with json() of its own',
      (r) => new CachedResponse('k', r),
      async (r) => ((await r.json()) as { key: string }).key,
      'k',
    ],
    ['a wrapper, its text()', wrapped, (r) => r.text(), answer],
    ['a wrapper, its json()', wrapped, (r) => r.json(), JSON.parse(answer)],
    ['a wrapper, its text() after a look at body', wrapped, async (r) => r.body && r.text(), answer],
    ['a wrapper, its body', wrapped, (r) => new Response(r.body).text(), answer],
    ['a wrapper that reads its own body', selfReading, (r) => r.text(), answer],
    ['a proxy', proxied, async (r) => [r.key, await r.text()], ['k', answer]],
    ['a subclass, its clone', (r) => new CachedResponse('k', r), (r) => r.clone().text(), answer],
    [
      'a subclass and its clone',
      (r) => new CachedResponse('k', r),
      async (r) => [await r.clone().text(), await new Response(r.body).text()],
      [answer, answer],
    ],
  ];
  test.each(unusual)(
    '%s is the same for the application, and recorded',
    async (name, make, read, content) => {
      let own: unknown;
      const base = async () => {
        own = make(new Response(streamOf([answer]), { headers: { 'content-type': 'application/json' } }));
        return own as Response;
      };
      const response = await weir.fetch({}, base)(address, request);
      expect(response).toBe(own);
      expect(await read(response)).toEqual(content);
      await weir.shutdown();
      expect(stub.events).toHaveLength(1);
      const isReadByItself = name === 'a subclass, its clone' || name === 'a subclass with json() of its own';
      if (isReadByItself) return;
      expect(stub.events[0]?.properties.llm?.output?.response).toBe('own');
    },
  );

  test('what json() returns is the application’s, and a synchronous method stays synchronous', async () => {
    const own = { ok: true, status: 200, headers: new Headers(), json: async () => 1n, text: () => answer };
    const response = await weir.fetch({}, async () => own as unknown as Response)(address, request);
    expect(response.text()).toBe(answer);
    expect(await response.json()).toBe(1n);
  });

  test.each([
    ['a wrapper', wrapped],
    ['a subclass', (r: Response) => new CachedResponse('k', r)],
  ])('of %s requested usage is removed, from its stream and its text', async (_, make) => {
    const usage = 'data: {"id":"c1","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}\n\n';
    const pieces = [chunk({ content: 'one' }), chunk({}, 0, 'stop'), usage, 'data: [DONE]\n\n'];
    const base = async () => make(new Response(streamOf(pieces), { headers: sse })) as Response;
    const observed = weir.fetch({ includeUsage: true }, base);
    const shown = pieces.join('').replace(usage, '');
    expect(await (await observed(address, request)).text()).toBe(shown);
    expect(await new Response((await observed(address, request)).body).text()).toBe(shown);
    await weir.flush();
    const totals = stub.events.map(({ properties }) => properties.llm?.usage?.totalTokens);
    expect(totals).toEqual([3, 3]);
  });

  test('the application gets an equal response: own properties, headers, the lock of its body', async () => {
    const own = Object.assign(new Response(streamOf([answer])), { attempts: 3 });
    const response = await weir.fetch({}, async () => own)(address, request);
    expect(response).toMatchObject({ attempts: 3 });
    expect(response.headers).toBe(own.headers);
    for await (const _ of response.body ?? []) break;
    expect(own.body?.locked).toBe(false);
  });

  test('a headers object without get() changes nothing', async () => {
    const own = { ok: true, status: 200, headers: {}, text: async () => 'x' };
    expect(await weir.fetch({}, async () => own as unknown as Response)(address, request)).toBe(own);
  });
});

test('callbacks that reject cause no unhandled rejection', async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => void unhandled.push(error);
  process.on('unhandledRejection', note);
  const reject = async () => Promise.reject(new Error('of the application'));
  const callbacks = { mask: reject as never, onDrop: reject, onAccepted: reject };
  const own = new Weir({ url: stub.url, apiKey: 'key', flushOnExit: false, ...callbacks });
  own.record({ type: 'tool', properties: { tool: { name: 'a' } } });
  await own.shutdown();
  own.record({ type: 'tool', properties: { tool: { name: 'dropped' } } });
  await own.shutdown();
  for (let turns = 0; turns < 5; turns++) await turn();
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
  expect(stub.events).toHaveLength(1);
});
