import { z } from 'zod';
import { isPrice } from './decimal.ts';

const amount = z.string().refine(isPrice, 'must be a decimal such as "2.50": dollars per million tokens');

export const listPrice = z.strictObject({
  model: z.string().min(1).max(256).toLowerCase(),
  input: amount,
  output: amount,
  /** Null: cached tokens cost as much as input. */
  cacheRead: amount.nullable().default(null),
  cacheWrite: amount.nullable().default(null),
});

/** The list price of a model's tokens: US dollars per million tokens, exact decimals. */
export type ListPrice = z.output<typeof listPrice>;
