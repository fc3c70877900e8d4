import { z } from 'zod';
import { inputBounds, parsePriceClass, pricedTiers } from '../../event/usage/price-class.ts';
import { type UsagePart, usagePartNames, usageParts } from '../../event/usage/usage-parts.ts';
import { isPrice, priceScale, unitsOf } from './decimal.ts';

/** What a price is for: the four kinds that every model has, and parts of them. */
export const pricedKinds = ['input', 'output', 'cacheRead', 'cacheWrite', ...usagePartNames] as const;
export type PricedKind = (typeof pricedKinds)[number];

/**
 * Prices besides the four of each model: dollars per million tokens (or web searches) by a kind, a tier and a
 * size of the input, such as `audioInput`, `input batch`, `output priority >200000`. `factor us` multiplies
 * all prices of calls in a region or a tier.
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
  if (kind === 'factor') return words.length === 1 && ['us', ...pricedTiers].includes(words[0] ?? '');
  const [tier, bound] = words.length === 1 && words[0]?.startsWith('>') ? [undefined, words[0]] : words;
  return (
    words.length <= 2 &&
    pricedKinds.some((one) => one === kind) &&
    !(kind in defaultKinds && words.length === 0) &&
    (tier === undefined || pricedTiers.includes(tier)) &&
    (bound === undefined || inputBounds.some((one) => bound === `>${one}`))
  );
}

/** The four prices of a model, and its rates. */
export interface PriceTable {
  readonly input: string;
  readonly output: string;
  readonly cacheRead: string | null;
  readonly cacheWrite: string | null;
  readonly rates: Rates;
}

/** The price of a kind under conditions. */
export interface KindPrice {
  /** Units of 10^-12 dollars for each token. */
  readonly units: bigint;
  /** False without a price for the kind or the tier: then that of the whole or the standard tier applies. */
  readonly isExact: boolean;
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

/** Where a kind without a price has its price from. Cached tokens never cost nothing. */
const defaultKinds = { input: null, output: null, cacheRead: 'input', cacheWrite: 'input' } as const;

function priceKinds(table: PriceTable, priceClass: string): ClassPrices {
  const { tier, region, inputBound } = parsePriceClass(priceClass);
  const { rates } = table;
  const tierFactor = tier === undefined ? undefined : rates[`factor ${tier}`];
  const factors = [tierFactor, region === undefined ? undefined : rates[`factor ${region}`]];
  const bounds = inputBounds.filter((bound) => bound <= inputBound).map((bound) => ` >${bound}`);
  const find = (kind: PricedKind): KindPrice | undefined => {
    const [ofTier, standard] = [tier === undefined ? [] : [` ${tier}`], ['']].map((tiers) =>
      tiers.flatMap((one) => [...bounds.map((bound) => `${kind}${one}${bound}`), `${kind}${one}`]),
    );
    const own = ofTier?.find((key) => key in rates);
    const key = own ?? standard?.find((one) => one in rates);
    const price = key === undefined ? (kind in defaultKinds ? table[kind as 'input'] : null) : rates[key];
    if (price === null || price === undefined) return undefined;
    const isExact = tier === undefined || own !== undefined || tierFactor !== undefined;
    return { units: factors.reduce(multiply, unitsOf(price)), isExact };
  };
  const prices = {} as Record<PricedKind, KindPrice>;
  for (const kind of pricedKinds) {
    const found = find(kind);
    const whole: PricedKind | null | undefined = wholeOf(kind);
    const other = whole === undefined || whole === null ? { units: 0n, isExact: false } : prices[whole];
    // Images cost what text costs unless a list says otherwise.
    const isSame = kind in defaultKinds || kind.startsWith('image');
    prices[kind] = found ?? (isSame ? other : { ...other, isExact: false });
  }
  return prices;
}

function wholeOf(kind: PricedKind): PricedKind | null | undefined {
  return kind in defaultKinds
    ? defaultKinds[kind as keyof typeof defaultKinds]
    : usageParts[kind as UsagePart];
}

function multiply(units: bigint, factor: string | undefined): bigint {
  return factor === undefined ? units : (units * unitsOf(factor)) / priceScale;
}
