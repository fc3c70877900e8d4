import { expect, test } from 'vitest';
import { Operator } from '../../test/support/cli/operator.ts';

const operator = new Operator();
const price = (...args: string[]) => operator.weir('price', ...args);

test('prices are set for all spaces and for one, listed and removed', async () => {
  const spaceId = await operator.createSpace();
  await price('set', '--model', 'gpt', '--input', '2.5', '--output', '10', '--cache-read', '0.125');
  await price('set', '--model', 'gpt', '--input', '3', '--output', '12', '--from', '2026-03-01');
  await price('set', '--model', 'gpt', '--input', '1.000001', '--output', '0', '--space', spaceId);
  const common = { model: 'gpt', spaceId: null, validFrom: '1970-01-01', cacheRead: null, cacheWrite: null };
  const forAll = [
    { ...common, input: '2.5', output: '10', cacheRead: '0.125' },
    { ...common, input: '3', output: '12', validFrom: '2026-03-01' },
  ];
  const own = { ...common, spaceId, input: '1.000001', output: '0' };
  expect(await price('list')).toEqual(forAll);
  expect(await price('list', '--space', spaceId)).toEqual(expect.arrayContaining([...forAll, own]));
  // Setting a price again replaces it.
  await price('set', '--model', 'gpt', '--input', '4', '--output', '12', '--from', '2026-03-01');
  expect(await price('list')).toContainEqual({
    ...common,
    input: '4',
    output: '12',
    validFrom: '2026-03-01',
  });
  await price('remove', '--model', 'gpt', '--from', '2026-03-01');
  await price('remove', '--model', 'gpt');
  expect(await price('list')).toEqual([]);
  expect(await price('list', '--space', spaceId)).toEqual([own]);
  const { exitCode, stderr } = await operator.run(['price', 'remove', '--model', 'gpt']);
  expect({ exitCode, stderr }).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('no such price'),
  });
});

test.each([
  ['--input', '-1'],
  ['--input', '1e3'],
  ['--input', '0.0000001'],
  ['--output', '1234567890'],
  ['--from', '2026-02-30'],
  ['--from', 'today'],
])('%s %s is bad usage', async (option, value) => {
  const args = { '--model': 'm', '--input': '1', '--output': '1', [option]: value };
  const { exitCode } = await operator.run(['price', 'set', ...Object.entries(args).flat()]);
  expect(exitCode).toBe(2);
});
