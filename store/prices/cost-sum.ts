import { formatCost } from './decimal.ts';
import type { AppliedPrice } from './price-book.ts';

/** Counts of tokens. Input tokens include those read from or written to a cache, output tokens include reasoning. */
export interface TokenCounts {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

/** The cost of some tokens. Tokens without a price are not included: `pricedTokens` of `tokens` have one. */
export interface Cost {
  /** US dollars, an exact decimal; null when no token has a price. */
  cost: string | null;
  /** Number of input and output tokens that have a price. */
  pricedTokens: number;
  /** Number of them whose price is the provider's list price. */
  listPricedTokens: number;
  /** Number of all input and output tokens. */
  tokens: number;
}

/** Adds up the costs of token counts, exactly. */
export class CostSum {
  #units = 0n;
  #pricedTokens = 0;
  #listPricedTokens = 0;
  #tokens = 0;

  /** Adds the tokens at their price; undefined without one. */
  add(counts: TokenCounts, price: AppliedPrice | undefined): void {
    const input = wholeTokens(counts.inputTokens);
    const output = wholeTokens(counts.outputTokens);
    this.#tokens += input + output;
    if (price === undefined) return;
    this.#pricedTokens += input + output;
    if (price.origin === 'list') this.#listPricedTokens += input + output;
    // Clients may report more cached tokens than input tokens.
    const cacheRead = Math.min(wholeTokens(counts.cacheReadTokens), input);
    const cacheWrite = Math.min(wholeTokens(counts.cacheWriteTokens), input - cacheRead);
    const { units } = price;
    this.#units +=
      BigInt(input - cacheRead - cacheWrite) * units.input +
      BigInt(cacheRead) * units.cacheRead +
      BigInt(cacheWrite) * units.cacheWrite +
      BigInt(output) * units.output;
  }

  addSum(other: CostSum): void {
    this.#units += other.#units;
    this.#pricedTokens += other.#pricedTokens;
    this.#listPricedTokens += other.#listPricedTokens;
    this.#tokens += other.#tokens;
  }

  get cost(): Cost {
    return {
      cost: this.#pricedTokens === 0 ? null : formatCost(this.#units),
      pricedTokens: this.#pricedTokens,
      listPricedTokens: this.#listPricedTokens,
      tokens: this.#tokens,
    };
  }
}

/** Clients may report fractions of tokens and negative counts. */
function wholeTokens(tokens: number): number {
  return Math.max(0, Math.round(tokens));
}
