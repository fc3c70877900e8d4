import { z } from 'zod';
import type { Database } from '../../../store/db/database.ts';
import { costOf, formatCost } from '../../../store/prices/decimal.ts';
import { type AppliedPrice, openPriceBook } from '../../../store/prices/price-book.ts';
import type { Sums } from './read-cells.ts';

/** The cost of tokens. Tokens without a price are not included: `pricedTokens` of `tokens` have one. */
export const cost = z
  .object({
    /** US dollars, an exact decimal; null when no token has a price. */
    cost: z.string().nullable(),
    /** Number of input and output tokens that have a price. */
    pricedTokens: z.number(),
    /** Number of them whose price is the provider's list price. */
    listPricedTokens: z.number(),
    /** Number of all input and output tokens. */
    tokens: z.number(),
  })
  .meta({ id: 'Cost' });
export type Cost = z.infer<typeof cost>;

export interface PricedTokens {
  readonly units: bigint;
  readonly pricedTokens: number;
  readonly listPricedTokens: number;
  readonly tokens: number;
}

/** Priced token counts. Input tokens include cached ones. */
export type TokenCounts = Pick<Sums, 'inputTokens' | 'outputTokens' | 'cacheReadTokens' | 'cacheWriteTokens'>;

/**
 * The cost of token counts. Input tokens include cached tokens, output tokens include reasoning. Without cache prices, cached tokens
 * cost as much as input: providers charge for them, so omitting them would understate the cost.
 */
export function priceTokens(counts: TokenCounts, price: AppliedPrice | undefined): PricedTokens {
  const cacheRead = wholeTokens(counts.cacheReadTokens);
  const cacheWrite = wholeTokens(counts.cacheWriteTokens);
  const input = wholeTokens(counts.inputTokens);
  const output = wholeTokens(counts.outputTokens);
  // Clients may report more cached tokens than input tokens.
  const uncached = Math.max(0, input - cacheRead - cacheWrite);
  const kinds = [
    [uncached, price?.input],
    [Math.min(cacheRead, input), price?.cacheRead ?? price?.input],
    [Math.min(cacheWrite, Math.max(0, input - cacheRead)), price?.cacheWrite ?? price?.input],
    [output, price?.output],
  ] as const;
  const priced = kinds.filter(([, one]) => one !== undefined && one !== null);
  const pricedTokens = priced.reduce((sum, [tokens]) => sum + tokens, 0);
  return {
    units: priced.reduce((sum, [tokens, one]) => sum + costOf(BigInt(tokens), one ?? '0'), 0n),
    pricedTokens,
    listPricedTokens: price?.origin === 'list' ? pricedTokens : 0,
    tokens: input + output,
  };
}

/** Clients may report fractions of tokens and negative counts. */
function wholeTokens(tokens: number): number {
  return Math.max(0, Math.round(tokens));
}

/** Adds up costs and formats the sum for the API. */
export function showCost(parts: readonly PricedTokens[]): Cost {
  const pricedTokens = parts.reduce((sum, part) => sum + part.pricedTokens, 0);
  const units = parts.reduce((sum, part) => sum + part.units, 0n);
  return {
    cost: pricedTokens === 0 ? null : formatCost(units),
    pricedTokens,
    listPricedTokens: parts.reduce((sum, part) => sum + part.listPricedTokens, 0),
    tokens: parts.reduce((sum, part) => sum + part.tokens, 0),
  };
}

/** The tokens of one model call. */
export interface CallTokens extends TokenCounts {
  model: string;
  /** Start of the call, in milliseconds since the epoch. */
  atMs: number;
}

/** The cost of one call at the price of its day. */
export async function costOfCall(
  database: Database,
  spaceId: string,
  { model, atMs, ...counts }: CallTokens,
): Promise<Cost> {
  const priceOf = await openPriceBook(database, spaceId, [model]);
  return showCost([priceTokens(counts, priceOf(model, atMs))]);
}
