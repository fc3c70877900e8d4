import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Mask, Weir, type WeirEvent, type WeirOptions } from '../../src/index.ts';
import { llmEvent } from '../support/events.ts';
import { WeirStub } from '../support/weir-stub.ts';

let stub: WeirStub;
beforeEach(async () => {
  stub = await WeirStub.start();
});
afterEach(() => stub.close());

const open = (options: WeirOptions = {}) =>
  new Weir({ url: stub.url, apiKey: 'weir_key', flushOnExit: false, ...options });

const traceId = '6f2f0f4e-6c1d-4b9e-9a51-0d9f6a1b2c3d';

/** Records a tool event with this input, and returns what Weir received. */
async function send(input: unknown, options?: WeirOptions): Promise<WeirEvent | undefined> {
  const weir = open(options);
  const id = weir.record({ type: 'tool', properties: { tool: { name: 't', input } } });
  await weir.flush();
  return stub.accepted.get(id);
}

test('changes after record() do not change the event', async () => {
  const weir = open();
  const messages = [{ role: 'user', content: 'Hi' }];
  weir.record({ type: 'llm', properties: { llm: { input: { messages } } } });
  messages.push({ role: 'assistant', content: 'later' });
  await weir.flush();
  expect(stub.events[0]?.properties.llm?.input?.messages).toEqual([{ role: 'user', content: 'Hi' }]);
});

test('values that JSON cannot hold are replaced, and the event is kept', async () => {
  const circular: Record<string, unknown> = { list: [1] };
  circular.self = circular;
  const hostile = {
    big: 9007199254740993123n,
    circular,
    error: new TypeError('wrong'),
    map: new Map([['a', new Set([1])]]),
    get bad() {
      throw new Error('getter');
    },
    json: {
      toJSON() {
        throw new Error('toJSON');
      },
    },
  };
  expect((await send(hostile))?.properties.tool?.input).toEqual({
    big: '9007199254740993123',
    circular: { list: [1], self: '[Circular]' },
    error: { name: 'TypeError', message: 'wrong' },
    map: { a: [1] },
    bad: '[Unserializable]',
    json: '[Unserializable]',
  });
});

test('deep nesting is cut off before the depth that Weir rejects', async () => {
  let deep: unknown = 1n;
  for (let level = 0; level < 5_000; level++) deep = [deep];
  expect(JSON.stringify((await send(deep))?.properties)).toContain('[Too deep]');
});

test('lone surrogates, control characters and 16 MiB of text reach Weir or are shortened', async () => {
  expect((await send('\ud800\u0000\u2028'))?.properties.tool?.input).toBe('\ud800\u0000\u2028');
  const weir = open();
  const id = weir.record(llmEvent('é'.repeat(8 * 1024 ** 2)));
  expect(await weir.flush()).toEqual({ accepted: 1, dropped: 0, pending: 0 });
  const { prompt } = stub.accepted.get(id)?.properties.llm?.input ?? {};
  expect(JSON.parse(prompt ?? '')).toEqual({
    truncated: true,
    bytes: 16 * 1024 ** 2,
    sha256: expect.stringMatching(/^[\da-f]{64}$/),
  });
  expect(weir.stats().truncated).toBe(1);
});

test('a dimension that is too large is shortened to a string: Weir takes nothing else there', async () => {
  const weir = open();
  const id = weir.record({ ...llmEvent(), additionalProperties: { note: 'x'.repeat(5 * 1024 ** 2) } });
  expect(await weir.flush()).toEqual({ accepted: 1, dropped: 0, pending: 0 });
  const { note } = stub.accepted.get(id)?.additionalProperties ?? {};
  expect(JSON.parse(String(note))).toMatchObject({ truncated: true });
});

test('an event that is too large in small pieces is dropped and counted', async () => {
  const weir = open();
  weir.record({ type: 'tool', properties: { tool: { input: Array(3_000_000).fill(1) } } });
  await weir.flush();
  expect(weir.stats()).toMatchObject({ accepted: 0, pending: 0, droppedByReason: { too_large: 1 } });
});

test('the mask is called with each event before the event is stored or sent', async () => {
  const mask: Mask = (event) => ({ ...event, context: {}, properties: { tool: { name: 'masked' } } });
  const event = await send('secret', { mask });
  expect(event?.properties).toEqual({ tool: { name: 'masked' } });
});

const failing: [why: string, mask: unknown][] = [
  [
    'throws',
    () => {
      throw new Error('no');
    },
  ],
  ['returns undefined', () => undefined],
  ['returns no payload', (event: WeirEvent) => ({ ...event, properties: {} })],
  ['returns another type', (event: WeirEvent) => ({ ...event, type: 'other' })],
  ['returns a promise', async (event: WeirEvent) => event],
  [
    'returns an event that cannot be serialized',
    (event: WeirEvent) => ({
      ...event,
      properties: {
        toJSON: () => {
          throw new Error('no');
        },
      },
    }),
  ],
];

test.each(failing)('a mask that %s fails closed: no content leaves the process', async (_why, mask) => {
  const weir = open({ mask: mask as Mask });
  weir.context({ userId: 'secret-user', additionalProperties: { a: 'secret-dimension' } }, () =>
    weir.record(
      llmEvent('secret prompt', {
        status: { state: 'error', error: { code: 'c', message: 'secret message' } },
      }),
    ),
  );
  await weir.flush();
  const [request] = stub.requests;
  expect(request?.text).toContain('"model":"m"');
  expect(request?.text).not.toContain('secret');
  expect(weir.stats().maskFailures).toBe(1);
});

test('content: metadata leaves out prompts, responses, arguments and results', async () => {
  const weir = open({ content: 'metadata' });
  weir.record({
    type: 'llm',
    status: { state: 'error', error: { code: 'c', httpStatus: 500, message: 'secret' } },
    properties: {
      llm: {
        model: 'm',
        input: { prompt: 'secret', messages: ['secret'] },
        output: {
          mode: 'tool_calls',
          response: 'secret',
          toolCalls: [{ id: '1', name: 'n', arguments: 'secret' }],
        },
        usage: { totalTokens: 3 },
        own: 'secret',
      },
    },
  });
  weir.record({ type: 'tool', properties: { tool: { name: 'n', input: 'secret', output: 'secret' } } });
  await weir.flush();
  expect(stub.requests[0]?.text).not.toContain('secret');
  expect(stub.events.map(({ properties }) => properties)).toEqual([
    {
      llm: {
        model: 'm',
        usage: { totalTokens: 3 },
        output: { mode: 'tool_calls', toolCalls: [{ id: '1', name: 'n' }] },
      },
    },
    { tool: { name: 'n' } },
  ]);
  expect(stub.events[0]?.status.error).toEqual({ code: 'c', httpStatus: 500 });
});

test('sampling keeps or drops whole traces, and keeps every error', async () => {
  const weir = open({ sampleRate: 0.25 });
  for (let trace = 0; trace < 400; trace++) {
    weir.trace(() => {
      weir.record(llmEvent());
      weir.record(llmEvent());
    });
  }
  await weir.flush();
  const counts = Map.groupBy(stub.events, (event) => event.traceId);
  expect([...counts.values()].every((events) => events.length === 2)).toBe(true);
  expect(counts.size).toBeGreaterThan(60);
  expect(counts.size).toBeLessThan(140);
  expect(weir.stats().sampledOut).toBe(800 - stub.events.length);
  stub.accepted.clear();
  for (let i = 0; i < 50; i++) weir.record(llmEvent('Hi', { status: { state: 'error' } }));
  await weir.flush();
  expect(stub.events).toHaveLength(50);
});

test('identifiers follow the code across await, and never mix', async () => {
  const weir = open();
  const work = (user: string) =>
    weir.context(
      { userId: user, threadId: `thread-${user}`, additionalProperties: { plan: 'pro' } },
      async () => {
        await new Promise(setImmediate);
        return weir.context({ agentId: 'a', traceId, additionalProperties: { seats: 3 } }, async () => {
          await new Promise(setImmediate);
          return weir.record(llmEvent());
        });
      },
    );
  const ids = await Promise.all(['x', 'y'].map(work));
  weir.record(llmEvent());
  await weir.flush();
  for (const [index, user] of ['x', 'y'].entries()) {
    expect(stub.accepted.get(ids[index] ?? '')).toMatchObject({
      traceId,
      context: { userId: user, threadId: `thread-${user}`, agentId: 'a' },
      additionalProperties: { plan: 'pro', seats: 3 },
    });
  }
  expect(stub.events.at(-1)).toMatchObject({ context: {}, additionalProperties: {} });
});

test('a trace id that the contract does not allow is kept as a dimension', async () => {
  const weir = open();
  weir.context({ traceId: 'my-trace' }, () => weir.record(llmEvent()));
  await weir.flush();
  expect(stub.events[0]).not.toHaveProperty('traceId');
  expect(stub.events[0]?.additionalProperties).toEqual({ traceId: 'my-trace' });
});

test('dimensions and identifiers of other types become text, and no event of the trace is lost', async () => {
  const dimensions = {
    isTrial: true,
    seats: 3,
    big: 2n ** 64n,
    none: null,
    since: new Date(0),
    plan: { name: 'pro' },
    ratio: Number.NaN,
    run: () => 1,
  };
  const context = { userId: 42, threadId: null, additionalProperties: dimensions } as never;
  const expected = {
    isTrial: 'true',
    seats: 3,
    big: '18446744073709551616',
    since: '1970-01-01T00:00:00.000Z',
    plan: '{"name":"pro"}',
    ratio: 'NaN',
  };
  const weir = open();
  weir.context(context, () => weir.record(llmEvent()));
  await weir.flush();
  expect(stub.events[0]).toMatchObject({ context: { userId: '42' } });
  expect(stub.events[0]?.additionalProperties).toEqual(expected);
  const mask = ((event: WeirEvent) => ({ ...event, additionalProperties: { isMasked: true } })) as never;
  expect((await send('x', { mask }))?.additionalProperties).toEqual({ isMasked: 'true' });
});

test('two copies of the package share the context', async () => {
  vi.resetModules();
  const copy = await import('../../src/index.ts');
  const weir = new copy.Weir({ url: stub.url, apiKey: 'k', flushOnExit: false });
  expect(copy.Weir).not.toBe(Weir);
  open().context({ userId: 'u' }, () => weir.record(llmEvent()));
  await weir.flush();
  expect(stub.events[0]?.context).toEqual({ userId: 'u' });
});
