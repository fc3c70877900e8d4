import { z } from 'zod';
import { inputBounds, parsePriceClass, pricedRegions, pricedTiers } from '../../event/usage/price-class.ts';
import { type UsagePart, usagePartNames, usageParts } from '../../event/usage/usage-parts.ts';
import { isPrice, priceScale, unitsOf } from './decimal.ts';

/** What a price is for: the four kinds that every model has, and parts of them. */
export const pricedKinds = ['input', 'output', 'cacheRead', 'cacheWrite', ...usagePartNames] as const;
export type PricedKind = (typeof pricedKinds)[number];

/**
 * Prices besides the four of each model: dollars per million tokens (or web searches) by a kind, a tier and a
 * size of the input, such as `audioInput`, `input batch`, `output priority >200000`. `factor us` multiplies
 * all prices of tokens of calls in a region or a tier.
 */
export const rates = z.record(
  z.string().refine(isRateKey, {
    error: `must be a kind (${pricedKinds.join(', ')}), a tier (${pricedTiers.join(', ')}) and a size (>${inputBounds.join(', >')}), such as "input priority >200000"; or "factor us", "factor fast"`,
  }),
  z.string().refine(isPrice, 'must be a decimal such as "2.50": dollars per million tokens'),
);
export type Rates = z.output<typeof rates>;

function isRateKey(key: string): boolean {
  const [kind = '', ...words] = key.split(' ');
  if (kind === 'factor')
    return words.length === 1 && [...pricedRegions, ...pricedTiers].includes(words[0] ?? '');
  const [tier, bound] = words.length === 1 && words[0]?.startsWith('>') ? [undefined, words[0]] : words;
  return (
    words.length <= 2 &&
    pricedKinds.some((one) => one === kind) &&
    !(kind in defaultKinds && words.length === 0) &&
    (tier === undefined || pricedTiers.includes(tier)) &&
    (bound === undefined || inputBounds.some((one) => bound === `>${one}`))
  );
}

/** The four prices of a model, and its rates: US dollars per million tokens, exact decimals. */
export const priceTable = z.object({
  input: z.string(),
  output: z.string(),
  /** For input tokens read from, or written to, a cache. Null: no separate price. */
  cacheRead: z.string().nullable(),
  cacheWrite: z.string().nullable(),
  /** Prices of other kinds of usage, tiers and sizes of the input, such as `input priority`. */
  rates: z.record(z.string(), z.string()),
});
export type PriceTable = z.infer<typeof priceTable>;

/**
 * How a cost compares with the true one: a kind or a tier without a price of its own has that of another, and
 * counts that contradict each other say only about how many tokens there were.
 */
export const costBounds = ['exact', 'at_least', 'at_most', 'about'] as const;
export type CostBound = (typeof costBounds)[number];

/** The price of a kind under conditions. */
export interface KindPrice {
  /** Units of 10^-12 dollars for each token. */
  readonly units: bigint;
  /**
   * Not exact without a price for the kind or the tier: then that of the whole or the standard tier applies.
   */
  readonly bound: CostBound;
  /** The conditions of the price in the table. */
  readonly tier?: string | undefined;
  readonly inputAbove?: number | undefined;
}

export type ClassPrices = Readonly<Record<PricedKind, KindPrice>>;

/** Parsed prices of a model, by price class. */
export class ParsedPrices {
  readonly #table: PriceTable;
  readonly #byClass = new Map<string, ClassPrices>();

  constructor(table: PriceTable) {
    this.#table = table;
  }

  of(priceClass: string): ClassPrices {
    let prices = this.#byClass.get(priceClass);
    if (prices === undefined) {
      prices = priceKinds(this.#table, priceClass);
      this.#byClass.set(priceClass, prices);
    }
    return prices;
  }
}

/** Tiers that cost less than the standard one. */
const discounts: readonly string[] = ['batch', 'flex'];

/** Where a kind without a price has its price from. Cached tokens never cost nothing. */
const defaultKinds = { input: null, output: null, cacheRead: 'input', cacheWrite: 'input' } as const;

function priceKinds(table: PriceTable, priceClass: string): ClassPrices {
  const { tier, region, inputBound, isContradictory } = parsePriceClass(priceClass);
  const { rates } = table;
  const tierFactor = tier === undefined ? undefined : rates[`factor ${tier}`];
  const factors = [tierFactor, region === undefined ? undefined : rates[`factor ${region}`]];
  const bounds = [...inputBounds.filter((bound) => bound <= inputBound), undefined];
  const tiers = tier === undefined ? [undefined] : [tier, undefined];
  const find = (kind: PricedKind): KindPrice | undefined => {
    for (const own of tiers) {
      for (const inputAbove of bounds) {
        const conditions = [own ?? '', inputAbove === undefined ? '' : `>${inputAbove}`];
        const key = [kind, ...conditions].filter((word) => word !== '').join(' ');
        const price = rates[key] ?? (key in defaultKinds ? table[key as keyof typeof defaultKinds] : null);
        if (price === null) continue;
        // Tiers and regions change the prices of tokens.
        const isSearch = kind === 'webSearches';
        const isOfTier = own === tier || (tierFactor !== undefined && !isSearch);
        const bound =
          isOfTier || isSearch ? 'exact' : discounts.includes(tier ?? '') ? 'at_most' : 'at_least';
        const units = isSearch ? unitsOf(price) : factors.reduce(multiply, unitsOf(price));
        return { units, bound, tier: isOfTier ? tier : undefined, inputAbove };
      }
    }
    return undefined;
  };
  const prices = {} as Record<PricedKind, KindPrice>;
  for (const kind of pricedKinds) {
    const whole: PricedKind | null | undefined = wholeOf(kind);
    const other = whole == null ? undefined : prices[whole];
    // Images cost what text costs unless a list says otherwise.
    const isSame = kind in defaultKinds || kind.startsWith('image');
    prices[kind] = find(kind) ?? (other === undefined ? unknownPrice : isSame ? other : atLeast(other));
  }
  if (isContradictory) for (const kind of pricedKinds) prices[kind] = { ...prices[kind], bound: 'about' };
  return prices;
}

const unknownPrice: KindPrice = { units: 0n, bound: 'at_least' };

/** The price of a whole for a part that has none: parts cost more. */
function atLeast(price: KindPrice): KindPrice {
  return { ...price, bound: price.bound === 'at_most' ? 'about' : 'at_least' };
}

function wholeOf(kind: PricedKind): PricedKind | null | undefined {
  return kind in defaultKinds
    ? defaultKinds[kind as keyof typeof defaultKinds]
    : usageParts[kind as UsagePart];
}

function multiply(units: bigint, factor: string | undefined): bigint {
  return factor === undefined ? units : (units * unitsOf(factor)) / priceScale;
}
