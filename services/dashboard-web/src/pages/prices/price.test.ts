import { expect, test } from 'vitest';
import { describePriced, withCents } from '../../format/priced.ts';
import { isPriceText, noAmounts, type Price, priceOn, toAmounts, writeRates } from './price.ts';

const price = (validFrom: string, spaceId: string | null): Price => ({
  model: 'm',
  validFrom,
  spaceId,
  input: '1',
  output: '2',
  cacheRead: null,
  cacheWrite: null,
  rates: {},
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

test('typed amounts are a price when input and output are, and no cache price is invalid', () => {
  const typed = { ...noAmounts, input: '2', output: '6' };
  expect(toAmounts(typed)).toEqual({ input: '2', output: '6', cacheRead: null, cacheWrite: null, rates: {} });
  expect(toAmounts({ ...typed, cacheRead: '0.5' })?.cacheRead).toBe('0.5');
  const rates = 'input  batch=1.25, output priority >272000 = 90';
  const read = { 'input batch': '1.25', 'output priority >272000': '90' };
  expect(toAmounts({ ...typed, rates })?.rates).toEqual(read);
  expect(toAmounts({ ...typed, rates: writeRates(read) })?.rates).toEqual(read);
  for (const change of [
    { output: '' },
    { input: 'x' },
    { cacheWrite: '1,5' },
    { rates: 'batch' },
    { rates: 'batch=x' },
  ]) {
    expect(toAmounts({ ...typed, ...change })).toBeUndefined();
  }
});

test.each([
  [{ tokens: 0, pricedTokens: 0, listPricedTokens: 0, assumedTokens: 0 }, 'No tokens'],
  [{ tokens: 9, pricedTokens: 0, listPricedTokens: 0, assumedTokens: 0 }, 'No tokens have a price'],
  [{ tokens: 4, pricedTokens: 3, listPricedTokens: 0, assumedTokens: 0 }, '75% of tokens priced'],
  [
    { tokens: 4, pricedTokens: 3, listPricedTokens: 3, assumedTokens: 0 },
    '75% of tokens priced, at list prices',
  ],
  [
    { tokens: 4, pricedTokens: 3, listPricedTokens: 1, assumedTokens: 0 },
    '75% of tokens priced, 25% at list prices',
  ],
  [{ tokens: 1e6, pricedTokens: 1e6 - 1, listPricedTokens: 0, assumedTokens: 0 }, '>99.9% of tokens priced'],
  [
    { tokens: 4, pricedTokens: 4, listPricedTokens: 4, assumedTokens: 1 },
    '100% of tokens priced, at list prices, some at the price of another kind or tier',
  ],
])('the priced share of %o is named', (share, text) => {
  expect(describePriced(share)).toBe(text);
});
