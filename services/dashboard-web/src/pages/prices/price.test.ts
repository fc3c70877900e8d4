import { expect, test } from 'vitest';
import { isPriceText, type Price, priceOn, withCents } from './price.ts';

const price = (validFrom: string, spaceId: string | null): Price => ({
  model: 'm',
  validFrom,
  spaceId,
  input: '1',
  output: '2',
  cacheRead: null,
  cacheWrite: null,
});

test('the newest price of the space holds, and without one the newest of the operator', () => {
  const operator = [price('1970-01-01', null), price('2026-03-01', null)];
  const own = price('2026-02-01', 'space');
  expect(priceOn(operator, 'm', '2026-02-28')).toBe(operator[0]);
  expect(priceOn(operator, 'm', '2026-03-01')).toBe(operator[1]);
  expect(priceOn([...operator, own], 'm', '2026-01-31')).toBe(operator[0]);
  expect(priceOn([...operator, own], 'm', '2026-12-31')).toBe(own);
  expect(priceOn([own], 'm', '2026-01-31')).toBeUndefined();
  expect(priceOn([own], 'other', '2026-12-31')).toBeUndefined();
});

test.for([
  ['2.50', true],
  ['0', true],
  ['123456789.123456', true],
  ['', false],
  ['2,5', false],
  ['-1', false],
  ['.5', false],
  ['1e3', false],
  ['1.1234567', false],
] as const)('%s as a price: %s', ([text, isOne]) => {
  expect(isPriceText(text)).toBe(isOne);
});

test.for([
  ['2', '2.00'],
  ['2.500000', '2.50'],
  ['0.075', '0.075'],
  ['10.0', '10.00'],
])('%s is shown as %s', ([price = '', shown]) => {
  expect(withCents(price)).toBe(shown);
});
