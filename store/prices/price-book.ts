import type { Database } from '../db/database.ts';
import { readListPrices, type SourcedPrice } from './list-prices.ts';
import { type ListedPrice, listPrices, type ModelPrice } from './prices.ts';

/** The price that applies to a model at a time. */
export type AppliedPrice =
  | (ModelPrice & { origin: 'space' | 'operator' })
  | (SourcedPrice & { origin: 'list' });

/** The price of a model at a time, in milliseconds since the epoch; undefined without one. */
export type FindPrice = (model: string, atMs: number) => AppliedPrice | undefined;

/** Reads the prices that apply to models of a space. @param set its result of `listPrices`, if that was read before. */
export async function openPriceBook(
  database: Database,
  spaceId: string,
  models: readonly string[],
  set?: readonly ListedPrice[],
): Promise<FindPrice> {
  const [own, listed] = await Promise.all([
    set ?? listPrices(database, spaceId),
    readListPrices(database, models),
  ]);
  const byModel = Map.groupBy(own, ({ model }) => model);
  return (model, atMs) => {
    const price = priceOn(byModel.get(model) ?? [], atMs);
    if (price !== undefined) return { ...price, origin: price.spaceId === null ? 'operator' : 'space' };
    const list = listed.get(model)?.findLast(({ validFrom }) => dayOf(validFrom) <= atMs);
    return list && { ...list, origin: 'list' };
  };
}

/** The price that was set for a time: the latest of the space's own prices, or else of the global ones. */
export function priceOn(prices: readonly ListedPrice[], atMs: number): ListedPrice | undefined {
  const valid = prices
    .filter(({ validFrom }) => dayOf(validFrom) <= atMs)
    .toSorted((a, b) => (a.validFrom < b.validFrom ? -1 : 1));
  return valid.findLast(({ spaceId }) => spaceId !== null) ?? valid.at(-1);
}

/** Start of a UTC day, in milliseconds since the epoch. */
export function dayOf(date: string): number {
  return Date.parse(`${date}T00:00:00Z`);
}
