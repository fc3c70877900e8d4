import { mkdtempSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eq } from 'drizzle-orm';
import { expect, inject, test } from 'vitest';
import { listPrices } from '../../store/db/schema.ts';
import { Operator } from '../../test/support/cli/operator.ts';

const operator = new Operator();
const price = (...args: string[]) => operator.weir('price', ...args);

test('prices are set for all spaces and for one, listed and removed', async () => {
  const spaceId = await operator.createSpace();
  await price('set', '--model', 'gpt', '--input', '2.5', '--output', '10', '--cache-read', '0.125');
  await price('set', '--model', 'gpt', '--input', '3', '--output', '12', '--from', '2026-03-01');
  await price('set', '--model', 'gpt', '--input', '1.000001', '--output', '0', '--space', spaceId);
  const common = {
    model: 'gpt',
    spaceId: null,
    validFrom: '1970-01-01',
    cacheRead: null,
    cacheWrite: null,
    rates: {},
  };
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

test('an imported list says what changed; a new price holds from its day on, and an older list changes nothing', async () => {
  const file = join(mkdtempSync(join(inject('runDirectory'), 'prices-')), 'list.json');
  const write = (day: string, input: string, more: object[] = []) =>
    writeFile(
      file,
      JSON.stringify({
        source: 'our contract',
        day,
        prices: [{ model: 'House', input, output: '8' }, ...more],
      }),
    );
  await write('2026-11-01', '2.50');
  const list = { input: '2.50', output: '8', cacheRead: null, cacheWrite: null, rates: {}, model: 'house' };
  const nothing = { added: [], changed: [], unchanged: 0, older: 0 };
  expect(await price('import', file)).toEqual({ ...nothing, added: [list] });
  await write('2026-11-02', '2.5');
  expect(await price('import', file)).toEqual({ ...nothing, unchanged: 1 });
  await write('2026-11-01', '9');
  expect(await price('import', file)).toEqual({ ...nothing, older: 1 });
  await write('2026-12-01', '3', [{ model: 'other', input: '1', output: '1' }]);
  expect(await price('import', file, '--print')).toMatchObject({ source: 'our contract', day: '2026-12-01' });
  expect(await price('import', file)).toMatchObject({
    added: [{ model: 'other' }],
    changed: [{ model: 'house', input: '3', before: { input: '2.50' } }],
  });
  const { model, validFrom, listedOn } = listPrices;
  const stored = await operator.database
    .select({ validFrom, input: listPrices.input, listedOn })
    .from(listPrices)
    .where(eq(model, 'house'))
    .orderBy(validFrom);
  expect(stored).toEqual([
    { validFrom: '1970-01-01', input: '2.50', listedOn: '2026-11-02' },
    { validFrom: '2026-12-01', input: '3', listedOn: '2026-12-01' },
  ]);
  // Not the operator's own prices, and in the operator's audit log.
  expect(await price('list')).toEqual([]);
  const [newest = ''] = (await operator.print(['audit'])).split('\n');
  expect(JSON.parse(newest)).toMatchObject({
    action: 'price.import',
    details: { source: 'our contract', day: '2026-12-01', added: 1, changed: 1 },
  });
  // The same file as prices of a space's own, with rates; all or none.
  const spaceId = await operator.createSpace();
  const rates = {
    'input batch': '1',
    'output priority >272000': '9',
    cacheWriteHour: '4',
    'factor us': '1.1',
  };
  await write('2026-12-02', '7', [{ model: 'other', input: '1', output: '1', rates }]);
  const own = ['--set', '--space', spaceId, '--from', '2026-06-01'];
  expect(await price('import', file, ...own)).toEqual({ spaceId, validFrom: '2026-06-01', set: 2 });
  expect(await price('list', '--space', spaceId)).toMatchObject([
    { spaceId, model: 'house', validFrom: '2026-06-01', input: '7', rates: {} },
    { spaceId, model: 'other', validFrom: '2026-06-01', rates },
  ]);
  expect((await operator.run(['price', 'import', file, '--space', spaceId])).exitCode).toBe(1);
  await writeFile(file, '{}');
  const { exitCode, stderr } = await operator.run(['price', 'import', file]);
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('no prices') });
});
