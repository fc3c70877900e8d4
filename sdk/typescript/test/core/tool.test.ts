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

test('a generator is recorded at its end', async () => {
  const steps = weir.tool('steps', async function* (count: number) {
    for (let step = 0; step < count; step++) yield step;
  });
  const seen: number[] = [];
  for await (const step of steps(3)) seen.push(step);
  for await (const _ of steps(3)) break;
  expect(seen).toEqual([0, 1, 2]);
  expect(await recorded()).toMatchObject([{ output: 2 }, { output: 0 }]);
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
