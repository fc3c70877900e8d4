import { and, gt, lte } from 'drizzle-orm';
import { type PgColumn, union } from 'drizzle-orm/pg-core';
import type { Database } from '../db/database.ts';
import { listPrices as listedPrices, modelPrices } from '../db/schema.ts';
import { readListPrices, type SourcedPrice } from './list-prices.ts';
import { findByName } from './model-names.ts';
import { appliesTo, type ListedPrice, listPrices } from './prices.ts';
import { ParsedPrices } from './rates.ts';

/** The price of a model, who set it, and its parsed prices. */
export type AppliedPrice = { readonly parsed: ParsedPrices } & (
  | (ListedPrice & { readonly origin: 'space' | 'operator' })
  | (SourcedPrice & { readonly origin: 'list' })
);

/** The price of a model from a time on, until the next period of the model. */
export interface PricePeriod {
  readonly fromMs: number;
  readonly price: AppliedPrice;
}

/**
 * The prices that apply to some models of a space, sorted and parsed once: a space's own price comes before
 * the operator's, and that before the provider's list price; of each, the latest that is valid.
 */
export class PriceBook {
  readonly #periods: ReadonlyMap<string, readonly PricePeriod[]>;

  constructor(
    models: readonly string[],
    set: readonly ListedPrice[],
    listed: ReadonlyMap<string, readonly SourcedPrice[]>,
  ) {
    const scopes = [
      set.filter(({ spaceId }) => spaceId !== null),
      set.filter(({ spaceId }) => spaceId === null),
    ];
    const byName = scopes.map((prices) => Map.groupBy(prices, ({ model }) => model.toLowerCase()));
    this.#periods = new Map(
      models.map((model) => {
        const own = byName.flatMap((prices) => findSet(prices, model));
        return [model, toPeriods(own, listed.get(model) ?? [])];
      }),
    );
  }

  /** The periods of a model's price, ascending. */
  periodsOf(model: string): readonly PricePeriod[] {
    return this.#periods.get(model) ?? [];
  }

  /** The price of a model at a time, by binary search. */
  priceAt(model: string, atMs: number): AppliedPrice | undefined {
    const periods = this.periodsOf(model);
    let [low, high] = [0, periods.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((periods[middle]?.fromMs ?? 0) <= atMs) low = middle + 1;
      else high = middle;
    }
    return periods[low - 1]?.price;
  }
}

/** Reads the prices that apply to models of a space. */
export async function openPriceBook(
  database: Database,
  spaceId: string,
  models: readonly string[],
): Promise<PriceBook> {
  if (models.length === 0) return new PriceBook([], [], new Map());
  const [set, listed] = await Promise.all([
    listPrices(database, spaceId, models),
    readListPrices(database, models),
  ]);
  return new PriceBook(models, set, listed);
}

/**
 * The prices of the most exact of a model's names that has one; a price in the case of the event comes first.
 */
function findSet(byName: ReadonlyMap<string, ListedPrice[]>, model: string): readonly ListedPrice[] {
  const found = findByName(byName, model) ?? [];
  const exact = found.filter((price) => price.model === model);
  return exact.length > 0 ? exact : found;
}

function toPeriods(set: readonly ListedPrice[], listed: readonly SourcedPrice[]): PricePeriod[] {
  const prices: AppliedPrice[] = [
    ...set.map((price) => ({
      ...price,
      origin: price.spaceId === null ? ('operator' as const) : ('space' as const),
      parsed: new ParsedPrices(price),
    })),
    ...listed.map((price) => ({ ...price, origin: 'list' as const, parsed: new ParsedPrices(price) })),
  ];
  const valid: Partial<Record<AppliedPrice['origin'], AppliedPrice>> = {};
  const periods: PricePeriod[] = [];
  const starts = prices.map((price) => ({ fromMs: dayOf(price.validFrom), price }));
  for (const { fromMs, price } of starts.toSorted((a, b) => a.fromMs - b.fromMs)) {
    valid[price.origin] = price;
    const applied = valid.space ?? valid.operator ?? price;
    const last = periods.at(-1);
    if (last?.price === applied) continue;
    if (last?.fromMs === fromMs) periods.pop();
    periods.push({ fromMs, price: applied });
  }
  return periods;
}

/**
 * The starts of the UTC days after `fromMs` and before `toMs` on which a price of the space, the operator or
 * a list begins, in milliseconds since the epoch.
 */
export async function readPriceChanges(
  database: Database,
  spaceId: string,
  { fromMs, toMs }: { fromMs: number; toMs: number },
): Promise<number[]> {
  const dayAt = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const isBetween = (day: PgColumn) => and(gt(day, dayAt(fromMs)), lte(day, dayAt(toMs)));
  const found = await union(
    database
      .select({ day: modelPrices.validFrom })
      .from(modelPrices)
      .where(and(appliesTo(spaceId), isBetween(modelPrices.validFrom))),
    database
      .select({ day: listedPrices.validFrom })
      .from(listedPrices)
      .where(isBetween(listedPrices.validFrom)),
  );
  return found.map(({ day }) => dayOf(day)).filter((ms) => ms < toMs);
}

/** Start of a UTC day, in milliseconds since the epoch. */
function dayOf(date: string): number {
  return Date.parse(`${date}T00:00:00Z`);
}
