import { afterEach, beforeEach, expect, expectTypeOf, test, vi } from 'vitest';
import { type Span, Weir, type WeirEvent, type WeirOptions } from '../../src/index.ts';
import { llmEvent } from '../support/events.ts';
import { WeirStub } from '../support/weir-stub.ts';

let stub: WeirStub;
let weir: Weir;
const open = (options: WeirOptions = {}) =>
  new Weir({ url: stub.url, apiKey: 'weir_key', flushOnExit: false, ...options });
beforeEach(async () => {
  stub = await WeirStub.start();
  weir = open();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await stub.close();
});

/** Records an event whose model is this name. */
const note = (model: string, from = weir) => from.record({ ...llmEvent(), properties: { llm: { model } } });
const turn = () => new Promise(setImmediate);

/** The recorded events by model or tool name. */
async function recorded(from = weir): Promise<Map<string, WeirEvent>> {
  await from.flush();
  return new Map(
    stub.events.map((event) => [event.properties.llm?.model ?? event.properties.tool?.name ?? '', event]),
  );
}

test('events name the spans around them, across await, and simultaneous spans never mix', async () => {
  await weir.trace(async () => {
    note('outside');
    await weir.span('plan', async () => {
      await turn();
      await Promise.all(
        ['a', 'b'].map((name) =>
          weir.span(`search > ${name}`, async () => {
            await turn();
            note(name);
          }),
        ),
      );
      note('after');
    });
  });
  const events = await recorded();
  const path = (name: string) => events.get(name)?.additionalProperties['span.path'];
  const ids = (name: string) => String(events.get(name)?.additionalProperties['span.ids']).split('/');
  expect(['outside', 'a', 'b', 'after'].map(path)).toEqual([
    undefined,
    'plan > search>a',
    'plan > search>b',
    'plan',
  ]);
  expect(ids('a')[0]).toBe(ids('after')[0]);
  expect(ids('a')[1]).not.toBe(ids('b')[1]);
  expect(new Set([...events.values()].map(({ traceId }) => traceId)).size).toBe(1);
});

test('a span outside of a trace begins one, and a nested trace is a span of the outer one', async () => {
  weir.span('alone', (span) => {
    note('first');
    expect(span).toMatchObject({ name: 'alone', traceId: expect.any(String) });
  });
  weir.trace(
    () => {
      note('outer');
      weir.trace(() => note('inner'), { name: 'sub-agent', agentId: 'b' });
      weir.trace(() => note('own'), { traceId: '6f2f0f4e-6c1d-4b9e-9a51-0d9f6a1b2c3d' });
    },
    { name: 'job', agentId: 'a' },
  );
  const events = await recorded();
  expect(events.get('first')).toMatchObject({ traceId: expect.any(String) });
  expect(events.get('inner')).toMatchObject({
    traceId: events.get('outer')?.traceId,
    context: { agentId: 'b' },
    additionalProperties: { 'span.path': 'job > sub-agent' },
  });
  expect(events.get('own')?.traceId).not.toBe(events.get('outer')?.traceId);
  expect(events.get('own')?.additionalProperties).toEqual({});
});

test('results and errors pass through unchanged', async () => {
  const error = new Error('No answer.');
  const promise = Promise.resolve(1);
  expectTypeOf(weir.span('s', () => 'text')).toEqualTypeOf<string>();
  expect(weir.span('s', () => promise)).toBe(promise);
  const fail = () => {
    throw error;
  };
  expect(() => weir.span('s', fail)).toThrow(error);
  await expect(weir.span('s', () => Promise.reject(error))).rejects.toBe(error);
  expect(open({ enabled: false }).span('s', () => 2)).toBe(2);
});

test('the body of a generator runs inside its span', async () => {
  const sync = weir.span('sync', function* () {
    note('in sync');
    const sent: unknown = yield 1;
    note('later in sync');
    return sent;
  });
  expect(sync.next()).toEqual({ value: 1, done: false });
  note('between');
  expect(sync.next('sent')).toEqual({ value: 'sent', done: true });
  const seen: number[] = [];
  for await (const value of weir.span('async', async function* () {
    yield 1;
    await turn();
    note('in async');
    yield 2;
  })) {
    seen.push(value);
  }
  expect(seen).toEqual([1, 2]);
  const events = await recorded();
  const paths = Object.fromEntries(
    [...events].map(([name, event]) => [name, event.additionalProperties['span.path']]),
  );
  expect(paths).toEqual({
    'in sync': 'sync',
    'later in sync': 'sync',
    between: undefined,
    'in async': 'async',
  });
});

test('a tool is the parent of what is recorded inside it, and not of what follows', async () => {
  const research = weir.tool('research', async () => {
    await turn();
    note('inside');
    return weir.span('rank', () => note('deeper'));
  });
  const stream = weir.tool('stream', async function* () {
    note('in the generator');
    yield 1;
  });
  await weir.span('plan', async () => {
    await research();
    for await (const _ of stream());
    note('after');
  });
  const events = await recorded();
  const parent = (name: string) => events.get(name)?.additionalProperties['otel.parent_event_id'];
  expect(parent('inside')).toBe(events.get('research')?.id);
  expect(parent('deeper')).toBe(events.get('research')?.id);
  expect(parent('in the generator')).toBe(events.get('stream')?.id);
  expect([parent('research'), parent('after')]).toEqual([undefined, undefined]);
  expect(events.get('deeper')?.additionalProperties['span.path']).toBe('plan > rank');
  expect(events.get('research')?.additionalProperties['span.path']).toBe('plan');
});

test('without AsyncLocalStorage a span is entered again by its handle', async () => {
  // The work of another turn, outside of the async context of the span.
  const outside = Promise.withResolvers<Span>();
  weir.span('plan', outside.resolve);
  const span = await outside.promise;
  note('outside');
  span.run(() => note('inside'));
  const events = await recorded();
  expect(events.get('outside')?.traceId).toBeUndefined();
  expect(events.get('inside')).toMatchObject({
    traceId: span.traceId,
    additionalProperties: { 'span.path': 'plan', 'span.ids': span.id },
  });
});

test('a path has at most 16 levels of 100 characters', async () => {
  const nest = (depth: number): unknown =>
    depth === 0 ? note('deep') : weir.span('x'.repeat(300), () => nest(depth - 1));
  nest(40);
  const path = String((await recorded()).get('deep')?.additionalProperties['span.path']);
  expect(path.split(' > ').map(({ length }) => length)).toEqual(Array(16).fill(100));
});

test('tags, release and environment come from the client, the environment and the context', async () => {
  vi.stubEnv('WEIR_RELEASE', '1.2.3');
  vi.stubEnv('WEIR_ENVIRONMENT', 'staging');
  const client = open({ environment: 'production', tags: ['web'] });
  note('plain', client);
  client.trace(() => client.context({ tags: ['b', 'web'], release: '2' }, () => note('tagged', client)), {
    tags: ['a'],
  });
  const events = await recorded(client);
  expect(events.get('plain')?.additionalProperties).toEqual({
    release: '1.2.3',
    environment: 'production',
    tags: 'web',
  });
  expect(events.get('tagged')?.additionalProperties).toEqual({
    release: '2',
    environment: 'production',
    tags: 'web, a, b',
  });
});

test('a request for embeddings is counted and not recorded', async () => {
  const answers = weir.fetch({}, async () => Response.json({ data: [] }));
  for (const path of ['v1/embeddings', 'api/embed', 'v1beta/models/e:batchEmbedContents', 'v1/models']) {
    await answers(`http://provider/${path}`, { method: 'POST', body: '{}' });
  }
  await weir.flush();
  expect(weir.stats()).toMatchObject({ embeddings: 3, recorded: 0 });
});

test('an explicit parent of an observed fetch', async () => {
  const span = weir.span('plan', (own) => own);
  const answer = weir.fetch({ parent: span }, async () => Response.json({ choices: [] }));
  await (await answer('http://provider/chat/completions', { method: 'POST', body: '{"model":"m"}' })).text();
  expect((await recorded()).get('m')).toMatchObject({
    traceId: span.traceId,
    additionalProperties: { 'span.path': 'plan' },
  });
});
