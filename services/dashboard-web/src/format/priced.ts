import type { Output } from '../api/query.ts';
import { formatMoney, formatShare } from './number.ts';

type Cost = Output<'charts.costs'>['total'];
type Kind = Output<'charts.costs'>['kinds'][number]['kind'];

const symbols: Record<Cost['bound'], string> = { exact: '', at_least: '≥ ', at_most: '≤ ', about: '≈ ' };
const words: Record<Cost['bound'], string> = {
  exact: '',
  at_least: 'at least ',
  at_most: 'at most ',
  about: 'about ',
};

/** `$1.23`, or `≥ $1.23` when some usage has no price. */
export function formatCost({ cost, bound }: { cost: string; bound: Cost['bound'] }): string {
  return `${symbols[bound]}${formatMoney(Number(cost))}`;
}

/** `$1.23`, or `at least $1.23` when some usage has no price. */
export function describeCost({ cost, bound }: { cost: string; bound: Cost['bound'] }): string {
  return `${words[bound]}${formatMoney(Number(cost))}`;
}

/** An exact decimal with at least two decimal places and no trailing zeros after them: `2.50`, `0.075`. */
export function withCents(price: string): string {
  const [whole = '0', decimals = ''] = price.split('.');
  return `${whole}.${decimals.replace(/0+$/, '').padEnd(2, '0')}`;
}

/** The sum of the costs of events, to be shown; undefined when none has a cost. */
export function sumCosts(
  events: readonly Pick<Output<'events.list'>['events'][number], 'cost' | 'costBound'>[],
): { cost: string; bound: Cost['bound'] } | undefined {
  const known = events.filter(({ cost }) => cost !== null);
  if (known.length === 0) return undefined;
  const has = (...bounds: Cost['bound'][]) => events.some(({ costBound }) => bounds.includes(costBound));
  const isAtLeast = has('at_least', 'about');
  const isAtMost = has('at_most', 'about');
  return {
    cost: String(known.reduce((sum, { cost }) => sum + Number(cost), 0)),
    bound: isAtLeast ? (isAtMost ? 'about' : 'at_least') : isAtMost ? 'at_most' : 'exact',
  };
}

const kindNames: Record<Kind, string> = {
  input: 'Input',
  output: 'Output',
  cacheRead: 'Cache read',
  cacheWrite: 'Cache write',
  audioInput: 'Audio in',
  imageInput: 'Image in',
  audioCacheRead: 'Audio, cache read',
  imageCacheRead: 'Image, cache read',
  cacheWriteHour: 'Cache write, one hour',
  cacheWriteHalfDay: 'Cache write, 12 hours',
  audioOutput: 'Audio out',
  imageOutput: 'Image out',
  webSearches: 'Web searches',
  reported: 'Reported by senders',
};

export function nameKind(kind: Kind): string {
  return kindNames[kind];
}

/** Names the priced share, so that a partial sum is not taken for the whole, and assumed or list prices. */
export function describePriced({
  tokens,
  pricedTokens,
  listPricedTokens,
  assumedTokens,
}: Pick<Cost, 'tokens' | 'pricedTokens' | 'listPricedTokens' | 'assumedTokens'>): string {
  if (tokens === 0) return 'No tokens';
  if (pricedTokens === 0) return 'No tokens have a price';
  const priced = `${formatPart(pricedTokens, tokens)} of tokens priced`;
  const listed =
    listPricedTokens === pricedTokens
      ? 'at list prices'
      : `${formatPart(listPricedTokens, tokens)} at list prices`;
  return [
    priced,
    listPricedTokens > 0 && listed,
    assumedTokens > 0 && 'some at the price of another kind or tier',
  ]
    .filter(Boolean)
    .join(', ');
}

/** A part is never rounded to all. */
function formatPart(part: number, whole: number): string {
  const text = formatShare(part / whole);
  return part < whole && text === '100%' ? '>99.9%' : text;
}
