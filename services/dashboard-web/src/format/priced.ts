import { formatShare } from './number.ts';

/**
 * The share of tokens that a cost includes, so that a partial sum is not taken for the whole, and whether
 * list prices are in it.
 */
export function describePriced({
  tokens,
  pricedTokens,
  listPricedTokens,
}: {
  tokens: number;
  pricedTokens: number;
  listPricedTokens: number;
}): string {
  if (tokens === 0) return 'No tokens';
  if (pricedTokens === 0) return 'No tokens have a price';
  const priced = `${formatPart(pricedTokens, tokens)} of tokens priced`;
  if (listPricedTokens === 0) return priced;
  if (listPricedTokens === pricedTokens) return `${priced}, at list prices`;
  return `${priced}, ${formatPart(listPricedTokens, tokens)} at list prices`;
}

/** A part is never rounded to all. */
function formatPart(part: number, whole: number): string {
  const text = formatShare(part / whole);
  return part < whole && text === '100%' ? '>99.9%' : text;
}
