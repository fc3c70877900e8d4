import type { LlmPayload } from './event.ts';
import { addedNumberMax } from './limits.ts';

/** Whole tokens of one call, none negative: cached tokens are part of the input, reasoning is part of the output. */
export interface TokenCounts {
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly totalTokens: number | undefined;
  readonly cacheReadTokens: number | undefined;
  readonly cacheWriteTokens: number | undefined;
  readonly reasoningTokens: number | undefined;
}

/**
 * Counts the tokens of a call once, so that the cost of many calls is the sum of their costs (docs/api.md §2.6). Providers count
 * cached tokens within the input (OpenAI, Google) or beside it (Anthropic), and reasoning within the output or beside it (Google).
 * The numbers tell: a part that is larger than the whole stands beside it, and so does one that only then adds up to the total.
 */
export function countTokens(usage: NonNullable<LlmPayload['usage']>): TokenCounts {
  const cacheReadTokens = whole(usage.inputTokenDetails?.cacheReadTokens);
  const cacheWriteTokens = whole(usage.inputTokenDetails?.cacheWriteTokens);
  const reasoningTokens = whole(usage.outputTokenDetails?.reasoningTokens);
  const totalTokens = whole(usage.totalTokens);
  const sent = { input: whole(usage.inputTokens), output: whole(usage.outputTokens) };
  const cached = (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0);
  const isBeside = (part: number) =>
    part > 0 && totalTokens !== undefined && (sent.input ?? 0) + (sent.output ?? 0) + part === totalTokens;
  const inputTokens = includePart(sent.input, cached, isBeside(cached) || isUncached(usage, cached));
  const outputTokens = includePart(sent.output, reasoningTokens ?? 0, isBeside(reasoningTokens ?? 0));
  return { inputTokens, outputTokens, totalTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens };
}

/** The count with a part that stands beside it added. */
function includePart(count: number | undefined, part: number, isBeside: boolean): number | undefined {
  if (part === 0) return count;
  return isBeside || part > (count ?? 0) ? (count ?? 0) + part : count;
}

/** Whether the sender says that its input has no cached tokens. */
function isUncached(
  { inputTokens, inputTokenDetails }: NonNullable<LlmPayload['usage']>,
  cached: number,
): boolean {
  return cached > 0 && inputTokens !== undefined && inputTokenDetails?.uncachedTokens === inputTokens;
}

/** Clients may send fractions and negative numbers, and any finite number. */
function whole(tokens: number | undefined): number | undefined {
  return tokens === undefined ? undefined : Math.min(Math.max(Math.round(tokens), 0), addedNumberMax);
}
