import { dropUndefined } from '../event/drop-undefined.ts';
import type { LlmUsage } from '../event/event.ts';
import { asObject, type Json } from './read.ts';

/** The counts of a provider. `input` and `output` are totals; the details are parts of them. */
export interface TokenCounts {
  input: unknown;
  cacheRead?: unknown;
  cacheWrite?: unknown;
  output: unknown;
  reasoning?: unknown;
  total?: unknown;
}

/** Token counts in the fields of docs/api.md §2.6. Counts that the provider does not report are omitted. */
export function composeUsage(counts: TokenCounts): LlmUsage | undefined {
  const [input, output] = [asCount(counts.input), asCount(counts.output)];
  const [read, write] = [asCount(counts.cacheRead), asCount(counts.cacheWrite)];
  const reasoning = asCount(counts.reasoning);
  if (input === undefined && output === undefined) return undefined;
  const [cacheReadTokens, cacheWriteTokens] = [read ?? 0, write ?? 0];
  const hasCache = input !== undefined && (read !== undefined || write !== undefined);
  return dropUndefined({
    inputTokens: input,
    inputTokenDetails: hasCache
      ? {
          uncachedTokens: Math.max(0, input - cacheReadTokens - cacheWriteTokens),
          cacheReadTokens,
          cacheWriteTokens,
        }
      : undefined,
    outputTokens: output,
    outputTokenDetails:
      output !== undefined && reasoning !== undefined
        ? { reasoningTokens: reasoning, responseTokens: Math.max(0, output - reasoning) }
        : undefined,
    totalTokens: asCount(counts.total) ?? (input ?? 0) + (output ?? 0),
  });
}

/** Reads the usage of OpenAI's APIs, whose counts have the same structure under different names. */
export function readOpenAIUsage(usage: Json, input: string, output: string): LlmUsage | undefined {
  const details = asObject(usage[`${input}_details`]);
  return composeUsage({
    input: usage[input],
    cacheRead: details.cached_tokens,
    cacheWrite: details.cache_write_tokens,
    output: usage[output],
    reasoning: asObject(usage[`${output}_details`]).reasoning_tokens,
    total: usage.total_tokens,
  });
}

function asCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
