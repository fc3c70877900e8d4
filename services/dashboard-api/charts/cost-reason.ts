import { z } from 'zod';
import { parsePriceClass } from '../../../event/usage/price-class.ts';
import type { Database } from '../../../store/db/database.ts';
import { CostSum, countKinds } from '../../../store/prices/cost-sum.ts';
import { formatCost, formatPrice } from '../../../store/prices/decimal.ts';
import { type AppliedPrice, openPriceBook } from '../../../store/prices/price-book.ts';
import { costBounds, pricedKinds } from '../../../store/prices/rates.ts';
import { callOf, type PricedRow } from './token-prices.ts';

/** The conditions of a price; null for the standard tier, and for inputs of any size. */
const conditions = { tier: z.string().nullable(), inputAbove: z.number().nullable() };

const costLine = z
  .object({
    kind: z.enum(pricedKinds),
    /** Number of tokens or searches: each token is in one line. */
    count: z.number(),
    /**
     * US dollars per million, an exact decimal, with the factor of a region or a tier; null without a price.
     */
    price: z.string().nullable(),
    cost: z.string().nullable(),
    /**
     * Not `exact` when the kind or the tier has no price: then the price is that of the whole, or of the
     * standard tier. `about` when the counts contradict each other.
     */
    bound: z.enum(costBounds),
    ...conditions,
  })
  .meta({ id: 'CostLine' });

/** Whose price applies to a model, and under which name it was found. */
export const priceSource = z
  .object({
    /**
     * Who set it: an owner for this space, the operator for all spaces, or nobody: it is the provider's list
     * price.
     */
    origin: z.enum(['space', 'operator', 'list']),
    model: z.string(),
    /** The first UTC day of the price. */
    validFrom: z.iso.date(),
    /** For a list price: the source of the list, and the day of the last list with this price. */
    list: z.object({ source: z.string(), day: z.iso.date() }).nullable(),
  })
  .meta({ id: 'PriceSource' });

/** How the cost of a call came about. */
export const costReason = z
  .object({
    /**
     * US dollars as the sender reported them: then they are the cost, and the lines say what prices would
     * give.
     */
    reported: z.string().nullable(),
    /** The cost at the price; null without one. */
    priced: z.string().nullable(),
    bound: z.enum(costBounds),
    price: priceSource.nullable(),
    lines: z.array(costLine),
    /** The conditions of the call. */
    ...conditions,
    region: z.string().nullable(),
  })
  .meta({ id: 'CostReason' });
type CostReason = z.infer<typeof costReason>;

/** Explains the cost of an event; null for a tool call. */
export async function explainCost(
  database: Database,
  spaceId: string,
  row: PricedRow,
): Promise<CostReason | null> {
  if (row.type !== 'llm') return null;
  const usage = { ...callOf(row), reportedCost: null };
  const book = await openPriceBook(database, spaceId, row.name === null ? [] : [row.name]);
  const price = row.name === null ? undefined : book.priceAt(row.name, row.startTimeMs);
  const prices = price?.parsed.of(row.priceClass ?? '');
  const counts = countKinds(usage);
  const sum = new CostSum();
  sum.add(usage, price);
  const { cost, bound } = sum.cost;
  const { tier, region, inputBound } = parsePriceClass(row.priceClass ?? '');
  return {
    reported: row.reportedCost,
    priced: cost,
    bound,
    price: price === undefined ? null : sourceOf(price),
    lines: pricedKinds.flatMap((kind) => {
      const count = counts[kind] ?? 0;
      if (count === 0) return [];
      const { units, bound, tier, inputAbove } = prices?.[kind] ?? {};
      // A web search without a price has the bound of an unknown cost.
      const isKnown = units !== undefined && (bound === 'exact' || units > 0n);
      const line = {
        ...{ kind, count, bound: bound ?? 'at_least', tier: tier ?? null, inputAbove: inputAbove ?? null },
        price: isKnown ? formatPrice(units) : null,
        cost: isKnown ? formatCost(BigInt(count) * units) : null,
      };
      return [line];
    }),
    ...{ tier: tier ?? null, region: region ?? null, inputAbove: inputBound || null },
  };
}

export function sourceOf(price: AppliedPrice): z.infer<typeof priceSource> {
  const { origin, model, validFrom } = price;
  const list = price.origin === 'list' ? { source: price.source, day: price.listedOn } : null;
  return { origin, model, validFrom, list };
}
