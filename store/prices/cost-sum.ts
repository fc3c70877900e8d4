import { z } from 'zod';
import { parsePriceClass } from '../../event/usage/price-class.ts';
import {
  type UsagePart,
  type UsageParts,
  usagePartNames,
  usageParts,
} from '../../event/usage/usage-parts.ts';
import { formatCost, unitsOfCost } from './decimal.ts';
import type { AppliedPrice } from './price-book.ts';
import { type CostBound, costBounds, type PricedKind, pricedKinds } from './rates.ts';

/** Counts of tokens. Input includes tokens of a cache, output includes reasoning. */
export interface TokenCounts {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

/** The usage of calls of one model under the same conditions. */
export interface Usage extends TokenCounts {
  /** See event/usage/price-class.ts. */
  readonly priceClass?: string | null | undefined;
  readonly usageParts?: UsageParts | null | undefined;
  /** US dollars, a decimal: the cost, whatever prices say. */
  readonly reportedCost?: string | null | undefined;
}

/** The cost of tokens. Tokens without a price are not included: `pricedTokens` of `tokens` have one. */
export const cost = z
  .object({
    /** US dollars, an exact decimal; null when neither a price nor a sender's cost is known. */
    cost: z.string().nullable(),
    /** How it compares with the true cost: `at_least` when tokens, or their kind or tier, have no price. */
    bound: z.enum(costBounds),
    /** Number of input and output tokens that have a price, or whose cost the sender reported. */
    pricedTokens: z.number(),
    /** Number of them whose price is the provider's list price. */
    listPricedTokens: z.number(),
    /** Number of them whose cost the sender reported. */
    reportedTokens: z.number(),
    /**
     * Number of tokens and searches whose kind or tier has no price: the cost has that of the whole, or of
     * the standard tier.
     */
    assumedTokens: z.number(),
    /** Number of all input and output tokens. */
    tokens: z.number(),
  })
  .meta({ id: 'Cost' });
export type Cost = z.infer<typeof cost>;

/** What a cost is for. `reported`: the sender says what the whole call cost. */
export const costKinds = [...pricedKinds, 'reported'] as const;
export type CostKind = (typeof costKinds)[number];

/**
 * Is called with each amount that is added to a {@link CostSum}: a count, and its cost in units of 10^-12
 * dollars.
 */
type AddedAmount = (kind: CostKind, amount: { count: number; units: bigint }) => void;

/** Adds up the costs of usage, exactly. */
export class CostSum {
  readonly #onAdded: AddedAmount | undefined;
  #units = 0n;
  #isKnown = false;
  #pricedTokens = 0;
  #listPricedTokens = 0;
  #reportedTokens = 0;
  #assumedTokens = 0;
  /** Number of tokens and searches that may cost more than is counted, and less. */
  #atLeast = 0;
  #atMost = 0;
  #tokens = 0;

  constructor(onAdded?: AddedAmount) {
    this.#onAdded = onAdded;
  }

  /** Adds usage at its price; undefined without one. */
  add(usage: Usage, price: AppliedPrice | undefined): void {
    const tokens = wholeTokens(usage.inputTokens) + wholeTokens(usage.outputTokens);
    this.#tokens += tokens;
    if (usage.reportedCost != null) {
      this.#isKnown = true;
      this.#pricedTokens += tokens;
      this.#reportedTokens += tokens;
      this.#addAmount('reported', tokens, unitsOfCost(usage.reportedCost));
      return;
    }
    if (price === undefined) return;
    this.#pricedTokens += tokens;
    if (price.origin === 'list') this.#listPricedTokens += tokens;
    const prices = price.parsed.of(usage.priceClass ?? '');
    const counts = countKinds(usage);
    for (const kind of pricedKinds) {
      const count = counts[kind] ?? 0;
      if (count === 0) continue;
      const { units, bound } = prices[kind];
      this.#isKnown ||= bound === 'exact' || units > 0n;
      this.#addAmount(kind, count, BigInt(count) * units);
      this.#assume(count, bound);
    }
  }

  /** Adds a part of usage at its price, and takes it from the count that it is within. */
  addPart(part: UsagePart, units: number, { priceClass, price }: PartPrice): void {
    const prices = price?.parsed.of(priceClass);
    if (prices === undefined) return;
    const count = Math.round(units);
    this.#isKnown ||= prices[part].units > 0n;
    this.#addAmount(part, count, BigInt(count) * prices[part].units);
    this.#assume(count, prices[part].bound);
    const whole = usageParts[part];
    if (whole === undefined) return;
    this.#addAmount(whole, -count, BigInt(-count) * prices[whole].units);
    this.#assume(-count, prices[whole].bound);
  }

  addSum(other: CostSum): void {
    this.#units += other.#units;
    this.#isKnown ||= other.#isKnown;
    this.#pricedTokens += other.#pricedTokens;
    this.#listPricedTokens += other.#listPricedTokens;
    this.#reportedTokens += other.#reportedTokens;
    this.#assumedTokens += other.#assumedTokens;
    this.#atLeast += other.#atLeast;
    this.#atMost += other.#atMost;
    this.#tokens += other.#tokens;
  }

  get cost(): Cost {
    const isAtLeast = this.#atLeast > 0 || this.#pricedTokens < this.#tokens;
    const isAtMost = this.#atMost > 0;
    return {
      cost: this.#isKnown ? formatCost(this.#units) : null,
      bound: isAtLeast ? (isAtMost ? 'about' : 'at_least') : isAtMost ? 'at_most' : 'exact',
      pricedTokens: this.#pricedTokens,
      listPricedTokens: this.#listPricedTokens,
      reportedTokens: this.#reportedTokens,
      assumedTokens: this.#assumedTokens,
      tokens: this.#tokens,
    };
  }

  #addAmount(kind: CostKind, count: number, units: bigint): void {
    this.#units += units;
    this.#onAdded?.(kind, { count, units });
  }

  #assume(count: number, bound: CostBound): void {
    if (bound === 'exact') return;
    this.#assumedTokens += count;
    if (bound !== 'at_most') this.#atLeast += count;
    if (bound !== 'at_least') this.#atMost += count;
  }
}

interface PartPrice {
  readonly priceClass: string;
  readonly price: AppliedPrice | undefined;
}

/** The disjoint counts of usage: each token is in one. */
export function countKinds(usage: Usage): Partial<Record<PricedKind, number>> {
  const input = wholeTokens(usage.inputTokens);
  // Events that 0.1.0 stored may have more cached tokens than input tokens, until they are reprojected.
  const cacheRead = Math.min(wholeTokens(usage.cacheReadTokens), input);
  const cacheWrite = Math.min(wholeTokens(usage.cacheWriteTokens), input - cacheRead);
  const output = wholeTokens(usage.outputTokens);
  const counts: Partial<Record<PricedKind, number>> = {
    ...{ input: input - cacheRead - cacheWrite, cacheRead, cacheWrite, output },
  };
  for (const part of usagePartNames) {
    const count = usage.usageParts?.[part];
    if (count === undefined) continue;
    counts[part] = count;
    const whole = usageParts[part];
    if (whole !== undefined) counts[whole] = (counts[whole] ?? 0) - count;
  }
  return counts;
}

/** Senders may report fractions of tokens, and negative counts. */
function wholeTokens(tokens: number): number {
  return Math.max(0, Math.round(tokens));
}

/** The sums of a price class in statistics. */
export interface Slice extends TokenCounts {
  /** With `+part` at its end the slice counts the units of a part. */
  readonly priceClass: string;
  readonly usageUnits: number;
  readonly reportedCost: string | null;
}

/** Adds sums of statistics: of all calls, and the slices of those whose price depends on conditions. */
export function addStatistics(
  sum: CostSum,
  all: TokenCounts & { readonly slices?: readonly Slice[] | undefined },
  price: AppliedPrice | undefined,
): void {
  // A chart has hundreds of thousands of sums, and few of them have slices.
  if (all.slices === undefined) {
    sum.add(all, price);
    return;
  }
  const rest = pickCounts(all);
  for (const slice of all.slices) {
    const [priceClass = '', part] = slice.priceClass.split('+');
    if (part !== undefined) {
      // Statistics may have parts that a later version counts.
      const name = usagePartNames.find((one) => one === part);
      if (name !== undefined) sum.addPart(name, slice.usageUnits, { priceClass, price });
      continue;
    }
    for (const name of countNames) rest[name] -= slice[name];
    const { isReported } = parsePriceClass(priceClass);
    sum.add({ ...slice, priceClass, reportedCost: isReported ? (slice.reportedCost ?? '0') : null }, price);
  }
  sum.add(rest, price);
}

const countNames = ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens'] as const;

function pickCounts({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: TokenCounts) {
  return { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens };
}
