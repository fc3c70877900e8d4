import { z } from 'zod';
import { isPrice } from './decimal.ts';
import { rates } from './rates.ts';

const amount = z.string().refine(isPrice, 'must be a decimal such as "2.50": dollars per million tokens');

export const listPrice = z.strictObject({
  model: z.string().min(1).max(256).toLowerCase(),
  input: amount,
  output: amount,
  /** Null: cached tokens cost as much as input. */
  cacheRead: amount.nullable().default(null),
  cacheWrite: amount.nullable().default(null),
  rates: rates.default({}),
});

/** The list price of a model's tokens: US dollars per million tokens, exact decimals. */
export type ListPrice = z.output<typeof listPrice>;

export function isSamePrice(a: Omit<ListPrice, 'model'>, b: Omit<ListPrice, 'model'>): boolean {
  const keys = Object.keys(a.rates);
  return (
    (['input', 'output', 'cacheRead', 'cacheWrite'] as const).every((kind) => isEqual(a[kind], b[kind])) &&
    keys.length === Object.keys(b.rates).length &&
    keys.every((key) => isEqual(a.rates[key] ?? null, b.rates[key] ?? null))
  );
}

/** Decimals are equal as numbers: `2.50` and `2.5`. */
function isEqual(a: string | null, b: string | null): boolean {
  return a === null || b === null ? a === b : Number(a) === Number(b);
}
