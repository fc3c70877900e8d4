import { z } from 'zod';
import type { Database } from '../../../lib/db/database.ts';
import { costOf, formatCost } from '../../../lib/prices/decimal.ts';
import { type ListedPrice, listPrices } from '../../../lib/prices/prices.ts';
import type { Sums } from './read-cells.ts';

/** The cost of tokens. Tokens without a price are not included: `pricedTokens` of `tokens` have one. */
export const cost = z
  .object({
    /** US dollars, an exact decimal; null when no token has a price. */
    cost: z.string().nullable(),
    /** Number of input and output tokens that have a price. */
    pricedTokens: z.number(),
    /** Number of all input and output tokens. */
    tokens: z.number(),
  })
  .meta({ id: 'Cost' });
export type Cost = z.infer<typeof cost>;

/** The price of a model at a time: the latest of the space's own prices, or else of the global ones. */
export function priceOn(prices: readonly ListedPrice[], atMs: number): ListedPrice | undefined {
  const valid = prices
    .filter(({ validFrom }) => dayOf(validFrom) <= atMs)
    .toSorted((a, b) => (a.validFrom < b.validFrom ? -1 : 1));
  return valid.findLast(({ spaceId }) => spaceId !== null) ?? valid.at(-1);
}

export interface PricedTokens {
  readonly units: bigint;
  readonly pricedTokens: number;
  readonly tokens: number;
}

/** Priced token counts. Input tokens include cached ones. */
export type TokenCounts = Pick<Sums, 'inputTokens' | 'outputTokens' | 'cacheReadTokens' | 'cacheWriteTokens'>;

/**
 * The cost of token counts. Input tokens include cached tokens, output tokens include reasoning. Without cache prices, cached tokens
 * cost as much as input: providers charge for them, so omitting them would understate the cost.
 */
export function priceTokens(counts: TokenCounts, price: ListedPrice | undefined): PricedTokens {
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
  return {
    units: priced.reduce((sum, [tokens, one]) => sum + costOf(BigInt(tokens), one ?? '0'), 0n),
    pricedTokens: priced.reduce((sum, [tokens]) => sum + tokens, 0),
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
    tokens: parts.reduce((sum, part) => sum + part.tokens, 0),
  };
}

/** Start of a UTC day, in milliseconds since the epoch. */
export function dayOf(date: string): number {
  return Date.parse(`${date}T00:00:00Z`);
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
  const prices = await listPrices(database, spaceId);
  const own = prices.filter((price) => price.model === model);
  return showCost([priceTokens(counts, priceOn(own, atMs))]);
}
