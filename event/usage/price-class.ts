import type { LlmPayload } from '../event.ts';
import type { TokenCounts } from './token-counts.ts';

/**
 * The conditions on which a call's price depends, as words in this order: `reported` when the sender knows
 * the cost, the service tier, the region, `>200000` for the highest {@link inputBounds} that the input
 * exceeds, and `contradictory` for counts that exclude each other. Empty for most calls. Statistics are kept
 * by it, so the words are few.
 */
export function priceClassOf(
  { serviceTier, region }: LlmPayload,
  {
    inputTokens = 0,
    isContradictory = false,
    isReported,
  }: Partial<Pick<TokenCounts, 'inputTokens' | 'isContradictory'>> & { isReported: boolean },
): string {
  const bound = inputBounds.find((tokens) => inputTokens > tokens);
  return [
    isReported ? 'reported' : '',
    tiers[String(serviceTier).toLowerCase()] ?? '',
    pricedRegions.find((one) => one === region) ?? '',
    bound === undefined ? '' : `>${bound}`,
    isContradictory ? 'contradictory' : '',
  ]
    .filter((word) => word !== '')
    .join(' ');
}

/** A call with more input tokens can have another price as a whole. The highest first. */
export const inputBounds = [272_000, 200_000, 128_000, 100_000] as const;

/** Senders' names of the service tiers that are not the standard one. */
const tiers: Readonly<Record<string, string>> = {
  batch: 'batch',
  flex: 'flex',
  on_demand_flex: 'flex',
  priority: 'priority',
  on_demand_priority: 'priority',
  fast: 'fast',
  ultrafast: 'ultrafast',
};

export const pricedTiers: readonly string[] = [...new Set(Object.values(tiers))];

/** The regions to which inference can be confined for another price. */
export const pricedRegions: readonly string[] = ['us', 'eu'];

export interface PriceConditions {
  readonly isReported: boolean;
  readonly tier: string | undefined;
  readonly region: string | undefined;
  readonly inputBound: number;
  readonly isContradictory: boolean;
}

export function parsePriceClass(text: string): PriceConditions {
  const words = text.split(' ');
  return {
    isReported: words.includes('reported'),
    tier: words.find((word) => pricedTiers.includes(word)),
    region: words.find((word) => pricedRegions.includes(word)),
    inputBound: Number(words.find((word) => word.startsWith('>'))?.slice(1) ?? 0),
    isContradictory: words.includes('contradictory'),
  };
}
