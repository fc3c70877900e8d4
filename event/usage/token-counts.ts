import type { LlmPayload } from '../event.ts';
import { addedNumberMax } from '../limits.ts';
import type { UsagePart, UsageParts } from './usage-parts.ts';

/** None is negative: cached tokens are part of the input, reasoning of the output. */
export interface TokenCounts {
  readonly parts: UsageParts | undefined;
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly totalTokens: number | undefined;
  readonly cacheReadTokens: number | undefined;
  readonly cacheWriteTokens: number | undefined;
  readonly reasoningTokens: number | undefined;
  /** Whether what was sent excludes itself: a negative count, or parts beyond their whole. */
  readonly isContradictory: boolean;
}

type Usage = NonNullable<LlmPayload['usage']>;
type Wholes = Omit<TokenCounts, 'parts' | 'isContradictory'>;

/**
 * Counts tokens once, so that the cost of many calls is the sum of their costs (docs/api.md §2.6). Cached
 * tokens are within the input (OpenAI, Google) or beside it (Anthropic), reasoning within the output or
 * beside it (Google): a part larger than the whole is beside it, and one that only then adds up to the total.
 */
export function countTokens(usage: Usage): TokenCounts {
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
  const counts = {
    inputTokens,
    outputTokens,
    totalTokens,
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens,
  };
  return { ...counts, parts: countParts(usage, counts), isContradictory: isContradictory(usage, counts) };
}

function isContradictory(usage: Usage, { inputTokens = 0, outputTokens = 0, ...counts }: Wholes): boolean {
  const { inputTokenDetails: input = {}, outputTokenDetails: output = {} } = usage;
  const { cacheReadTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 } = counts;
  const sum = (...parts: readonly unknown[]) => parts.reduce<number>((all, part) => all + wholeOf(part), 0);
  return (
    [usage.inputTokens, usage.outputTokens, usage.totalTokens].some(isNegative) ||
    [input.cacheReadTokens, input.cacheWriteTokens, output.reasoningTokens].some(isNegative) ||
    sum(input.uncachedTokens) + cacheReadTokens + cacheWriteTokens > inputTokens ||
    sum(input.audioTokens, input.imageTokens) > inputTokens ||
    sum(input.cacheReadAudioTokens, input.cacheReadImageTokens) > cacheReadTokens ||
    sum(input.cacheWriteHourTokens, input.cacheWriteHalfDayTokens) > cacheWriteTokens ||
    sum(output.audioTokens, output.imageTokens) > outputTokens ||
    sum(output.responseTokens) + reasoningTokens > outputTokens
  );
}

function isNegative(count: number | undefined): boolean {
  return count !== undefined && count < 0;
}

/** None beyond the count that it is within. */
function countParts(
  { inputTokenDetails: input, outputTokenDetails: output, webSearches }: Usage,
  counts: Wholes,
): UsageParts | undefined {
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = counts;
  const parts: UsageParts = {};
  const take = (left: number, sent: readonly (readonly [UsagePart, unknown])[]) => {
    let rest = left;
    for (const [name, value] of sent) {
      const count = Math.min(wholeOf(value), rest);
      if (count === 0) continue;
      parts[name] = count;
      rest -= count;
    }
  };
  if (input !== undefined) {
    const { cacheReadAudioTokens, cacheReadImageTokens } = input;
    take(cacheReadTokens, [
      ['audioCacheRead', cacheReadAudioTokens],
      ['imageCacheRead', cacheReadImageTokens],
    ]);
    take(cacheWriteTokens, [
      ['cacheWriteHour', input.cacheWriteHourTokens],
      ['cacheWriteHalfDay', input.cacheWriteHalfDayTokens],
    ]);
    // Providers count cached audio within all audio.
    take(inputTokens - cacheReadTokens - cacheWriteTokens, [
      ['audioInput', wholeOf(input.audioTokens) - wholeOf(cacheReadAudioTokens)],
      ['imageInput', wholeOf(input.imageTokens) - wholeOf(cacheReadImageTokens)],
    ]);
  }
  if (output !== undefined) {
    take(outputTokens, [
      ['audioOutput', output.audioTokens],
      ['imageOutput', output.imageTokens],
    ]);
  }
  if (webSearches !== undefined) take(addedNumberMax, [['webSearches', webSearches]]);
  // Most calls have none, and then there is nothing to store.
  for (const _part in parts) return parts;
  return undefined;
}

/** Members that docs/api.md does not require to be numbers. */
function wholeOf(value: unknown): number {
  return (typeof value === 'number' && whole(value)) || 0;
}

/** The count with a part that stands beside it added. */
function includePart(count: number | undefined, part: number, isBeside: boolean): number | undefined {
  if (part === 0) return count;
  return isBeside || part > (count ?? 0) ? (count ?? 0) + part : count;
}

/** Whether the sender says that its input has no cached tokens. */
function isUncached({ inputTokens, inputTokenDetails }: Usage, cached: number): boolean {
  return cached > 0 && inputTokens !== undefined && inputTokenDetails?.uncachedTokens === inputTokens;
}

/** Clients may send fractions and negative numbers, and any finite number. */
function whole(tokens: number | undefined): number | undefined {
  return tokens === undefined ? undefined : Math.min(Math.max(Math.round(tokens), 0), addedNumberMax);
}
