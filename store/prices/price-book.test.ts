import { expect, test } from 'vitest';
import { CostSum } from './cost-sum.ts';
import { PriceBook } from './price-book.ts';
import type { ListedPrice } from './prices.ts';

const spaceId = '7f1f6f0e-3c5b-4f60-9a51-0a5c0a6f8f12';
const dayMs = 24 * 3_600_000;
const price = (changes: Partial<ListedPrice>): ListedPrice => ({
  ...{
    spaceId,
    model: 'm',
    validFrom: '1970-01-01',
    input: '1',
    output: '2',
    cacheRead: null,
    cacheWrite: null,
    rates: {},
  },
  ...changes,
});
const at = (day: string) => Date.parse(`${day}T12:00:00Z`);

test('of a space, the operator and a list, the first that has a valid price counts, and of its prices the latest', () => {
  const listed = [{ ...price({ input: '9' }), source: 'list', listedOn: '2026-01-01' }];
  const book = new PriceBook(
    ['m'],
    [
      price({ validFrom: '2026-03-01', input: '5' }),
      price({ validFrom: '2026-02-01', input: '4' }),
      price({ spaceId: null, validFrom: '2026-01-01', input: '7' }),
      // It begins with a price of the space, which counts.
      price({ spaceId: null, validFrom: '2026-02-01', input: '8' }),
      price({ spaceId: null, validFrom: '2026-02-15', input: '6' }),
    ],
    new Map([['m', listed]]),
  );
  const inputs = ['2025-12-31', '2026-01-01', '2026-01-31', '2026-02-01', '2026-02-20', '2026-03-01'].map(
    (day) => book.priceAt('m', at(day))?.input,
  );
  expect(inputs).toEqual(['9', '7', '7', '4', '4', '5']);
  expect(book.periodsOf('m').map(({ price: { input } }) => input)).toEqual(['9', '7', '4', '5']);
  expect(book.priceAt('other', at('2026-03-01'))).toBeUndefined();
  expect(book.priceAt('m', -1)).toBeUndefined();
});

test('a price is found without walking all prices of its model', () => {
  let compared = 0;
  const count = 4_096;
  const book = new PriceBook(
    ['m'],
    Array.from({ length: count }, (_, day) =>
      price({ validFrom: new Date(day * dayMs).toISOString().slice(0, 10), input: String(day) }),
    ),
    new Map(),
  );
  const counted = {
    valueOf: () => {
      compared += 1;
      return 1_000 * dayMs;
    },
  };
  // Compared as a number.
  expect(book.priceAt('m', counted as never)?.input).toBe('1000');
  expect(compared).toBeLessThanOrEqual(Math.log2(count) + 1);
});

test('more cached tokens than input cost no more than the input, and tokens without a price are told', () => {
  const book = new PriceBook(['m'], [price({ cacheRead: '0.5' })], new Map());
  const sum = new CostSum();
  const counts = { inputTokens: 10, outputTokens: 1, cacheReadTokens: 12, cacheWriteTokens: 3 };
  sum.add(counts, book.priceAt('m', 0));
  sum.add(counts, undefined);
  expect(sum.cost).toEqual({
    cost: '0.000007',
    bound: 'at_least',
    ...{ pricedTokens: 11, listPricedTokens: 0, reportedTokens: 0, assumedTokens: 0, tokens: 22 },
  });
});

test.each([
  ['anthropic/claude-sonnet-4.5', 'claude-sonnet-4-5'],
  ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'claude-sonnet-4-5'],
  ['claude-sonnet-4-5-20250929', 'Claude-Sonnet-4.5'],
  ['openai/GPT-4o:nitro', 'gpt-4o'],
  ['openai/gpt-4o:nitro', 'openai/gpt-4o:nitro'],
  ['gpt-3.5-turbo-0125', 'gpt-35-turbo-0125'],
  ['accounts/fireworks/models/Own-Model', 'OWN-MODEL'],
])('the model %s has the own price of %s', (model, name) => {
  const book = new PriceBook([model], [price({ model: name }), price({ model: 'another' })], new Map());
  expect(book.priceAt(model, 0)?.model).toBe(name);
});

test('the price of the most exact name counts, and no price of a more exact name', () => {
  const names = ['gpt-4o', 'gpt-4o-2024-08-06', 'openai/gpt-4o'];
  const book = new PriceBook(
    ['gpt-4o', 'x/gpt-4o-2024-08-06', 'openai/gpt-4o', 'gpt-4o-mini'],
    names.map((model) => price({ model })),
    new Map(),
  );
  const matched = (model: string) => book.priceAt(model, 0)?.model;
  expect(matched('gpt-4o')).toBe('gpt-4o');
  expect(matched('x/gpt-4o-2024-08-06')).toBe('gpt-4o-2024-08-06');
  expect(matched('openai/gpt-4o')).toBe('openai/gpt-4o');
  expect(matched('gpt-4o-mini')).toBeUndefined();
});
