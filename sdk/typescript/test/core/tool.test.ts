import { afterEach, beforeEach, expect, expectTypeOf, test } from 'vitest';
import { Weir } from '../../src/index.ts';
import { WeirStub } from '../support/weir-stub.ts';

let stub: WeirStub;
let weir: Weir;
beforeEach(async () => {
  stub = await WeirStub.start();
  weir = new Weir({ url: stub.url, apiKey: 'weir_key', flushOnExit: false });
});
afterEach(() => stub.close());

async function recorded() {
  await weir.flush();
  return stub.events.map(({ status, properties }) => ({ status, ...properties.tool }));
}

test('a synchronous tool stays synchronous', async () => {
  const add = weir.tool('add', (a: number, b: number) => a + b);
  expectTypeOf(add).toEqualTypeOf<(a: number, b: number) => number>();
  expect(add(1, 2)).toBe(3);
  expect(add).toHaveLength(2);
  expect(await recorded()).toEqual([{ status: { state: 'ok' }, name: 'add', input: [1, 2], output: 3 }]);
});

test('an asynchronous tool is recorded at its end, with its original arguments', async () => {
  const lookUp = weir.tool('look_up', async (query: { city: string }) => {
    const { city } = query;
    query.city = 'changed';
    return { city, warm: true };
  });
  expect(await lookUp({ city: 'Bern' })).toEqual({ city: 'Bern', warm: true });
  expect(await recorded()).toEqual([
    {
      status: { state: 'ok' },
      name: 'look_up',
      input: { city: 'Bern' },
      output: { city: 'Bern', warm: true },
    },
  ]);
});

test('errors are passed on unchanged and recorded', async () => {
  const error = Object.assign(new Error('No answer.'), { code: 'ETIMEDOUT', status: 504 });
  const fail = weir.tool('fail', () => {
    throw error;
  });
  const reject = weir.tool('reject', () => Promise.reject(error));
  expect(fail).toThrow(error);
  await expect(reject()).rejects.toBe(error);
  const status = { state: 'error', error: { code: 'ETIMEDOUT', httpStatus: 504, message: 'No answer.' } };
  expect(await recorded()).toEqual([
    { status, name: 'fail', input: [] },
    { status, name: 'reject', input: [] },
  ]);
});

test('a lazy thenable is not started by the recording', async () => {
  let starts = 0;
  const query = weir.tool('query', () => ({
    // biome-ignore lint/suspicious/noThenProperty: query builders have such a `then`.
    then(resolve: (rows: number[]) => void) {
      starts++;
      resolve([1]);
    },
  }));
  const pending = query();
  expect(starts).toBe(0);
  expect(await pending).toEqual([1]);
  expect(starts).toBe(1);
  expect(await recorded()).toMatchObject([{ name: 'query', output: [1] }]);
});

test('a generator is recorded at its end, with what it yielded until then', async () => {
  const steps = weir.tool('steps', async function* (count: number) {
    const progress = { step: -1 };
    while (++progress.step < count) yield progress;
  });
  const seen: number[] = [];
  for await (const { step } of steps(3)) seen.push(step);
  for await (const _ of steps(3)) break;
  expect(seen).toEqual([0, 1, 2]);
  const output = [{ step: 0 }, { step: 1 }, { step: 2 }];
  expect(await recorded()).toMatchObject([{ output }, { output: output.slice(0, 1) }]);
});

test('a synchronous generator is recorded like an asynchronous one, with the value that it returns', async () => {
  const read = weir.tool('read', function* () {
    const sent: string = yield 'first';
    yield sent;
    return 'whole';
  });
  const lines = read();
  expect([lines.next(), lines.next('second'), lines.next()]).toEqual([
    { value: 'first', done: false },
    { value: 'second', done: false },
    { value: 'whole', done: true },
  ]);
  const fails = weir.tool('fails', function* () {
    yield 1;
    throw new Error('No more.');
  });
  expect(() => [...fails()]).toThrow('No more.');
  expect(await recorded()).toMatchObject([
    { output: 'whole', yielded: ['first', 'second'] },
    { name: 'fails', status: { state: 'error', error: { message: 'No more.' } } },
  ]);
});

test.each([
  ['many values', 3_000, 'x', 1_000],
  ['long values', 30, 'x'.repeat(100_000), 10],
])('of a generator that yields %s the first and the last are kept', async (_, count, value, kept) => {
  const tokens = weir.tool('tokens', function* () {
    for (let i = 0; i < count; i++) yield value;
    yield 'last';
  });
  expect([...tokens()]).toHaveLength(count + 1);
  const [call] = await recorded();
  const output = call?.output as unknown[];
  expect(output.slice(0, kept)).toEqual(Array(kept).fill(value));
  expect(output.slice(kept)).toEqual([{ omitted: count - kept }, 'last']);
});

test('a result that cannot be changed is passed on', async () => {
  const frozen = Object.freeze([1].values());
  expect(weir.tool('frozen', () => frozen)()).toBe(frozen);
  expect(await recorded()).toMatchObject([{ name: 'frozen', status: { state: 'ok' } }]);
});

const config = { callbacks: { handlers: [] }, metadata: {} };
test.each([
  ['the AI SDK', [{ toolCallId: 'call_1', messages: [{ role: 'user', content: 'secret' }] }], 'call_1'],
  ['LangChain', [{ ...config, toolCall: { id: 'call_1', name: 'look_up' } }], 'call_1'],
  ['LangChain without a model', [config], undefined],
  ['LangChain with a run manager', [{ handlers: [], runId: 'r' }, config], undefined],
  ['the OpenAI Agents SDK', [{ context: {} }, { toolCall: { callId: 'call_1' } }], 'call_1'],
  ['a runner of OpenAI', [{ controller: new AbortController(), messages: ['secret'] }], undefined],
  ['a runner of Anthropic', [{ toolUse: { id: 'call_1' }, signal: null }], 'call_1'],
])('of a call by %s the input is recorded, and the id of the call', async (_, others, callId) => {
  const lookUp = weir.tool('look_up', (query: { city: string }, ..._others: unknown[]) => query.city);
  expect(lookUp({ city: 'Bern' }, ...others)).toBe('Bern');
  const [call] = await recorded();
  expect(call).toEqual({
    name: 'look_up',
    input: { city: 'Bern' },
    output: 'Bern',
    status: { state: 'ok' },
    ...(callId !== undefined && { callId }),
  });
});

test('an argument that throws when it is read changes nothing', async () => {
  const hostile = new Proxy({}, { get: () => expect.unreachable(), ownKeys: () => [] });
  expect(weir.tool('f', (..._: unknown[]) => 1)('a', hostile)).toBe(1);
  expect(await recorded()).toMatchObject([{ output: 1 }]);
});

test('this and the name of the function are kept', async () => {
  const object = {
    factor: 2,
    double: weir.tool('double', function double(this: { factor: number }, n: number) {
      return n * this.factor;
    }),
  };
  expect(object.double(4)).toBe(8);
  expect(object.double.name).toBe('double');
});
