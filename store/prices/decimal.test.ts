import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatCost, isPrice, unitsOf } from './decimal.ts';

test.each([
  [1, '0.000001', '0.000000000001'],
  [3, '0.1', '0.0000003'],
  [1_000_000, '2.50', '2.5'],
  [2 ** 53, '999999999.999999', '9007199254740982992.800745259008'],
  [0, '5', '0'],
  [7, '007', '0.000049'],
])('%i tokens at %s cost %s', (tokens, price, cost) => {
  expect(isPrice(price)).toBe(true);
  expect(formatCost(BigInt(tokens) * unitsOf(price))).toBe(cost);
});

test('a price is exact: millionths of dollars a million tokens', () => {
  const price = fc
    .tuple(fc.nat(999_999_999), fc.nat(999_999))
    .map(([whole, millionths]) => `${whole}.${String(millionths).padStart(6, '0')}`);
  fc.assert(
    fc.property(price, (one) => unitsOf(one) === BigInt(one.replace('.', ''))),
    { seed: 20_261_122 },
  );
});

test.each(['', '.5', '1.', '-1', '1e3', '0x1', '1.0000001', '1234567890', ' 1', '1\n', '१'])(
  '%j is no price',
  (text) => {
    expect(isPrice(text)).toBe(false);
  },
);
