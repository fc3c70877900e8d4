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
  /** Tokens with prices of their own, by the names of docs/api.md §2.6. */
  inputParts?: { readonly [name in InputPart]?: unknown };
  outputParts?: { readonly audioTokens?: unknown; readonly imageTokens?: unknown };
  webSearches?: unknown;
}

type InputPart = Exclude<
  keyof NonNullable<LlmUsage['inputTokenDetails']>,
  'uncachedTokens' | 'cacheReadTokens' | 'cacheWriteTokens'
>;

/** Token counts in the fields of docs/api.md §2.6. Counts that the provider does not report are omitted. */
export function composeUsage(counts: TokenCounts): LlmUsage | undefined {
  const [input, output] = [asCount(counts.input), asCount(counts.output)];
  const [read, write] = [asCount(counts.cacheRead), asCount(counts.cacheWrite)];
  const reasoning = asCount(counts.reasoning);
  if (input === undefined && output === undefined) return undefined;
  const [cacheReadTokens, cacheWriteTokens] = [read ?? 0, write ?? 0];
  const hasCache = input !== undefined && (read !== undefined || write !== undefined);
  const uncachedTokens = Math.max(0, (input ?? 0) - cacheReadTokens - cacheWriteTokens);
  const thoughts = output === undefined ? undefined : reasoning;
  return dropUndefined({
    inputTokens: input,
    inputTokenDetails: unlessEmpty({
      ...(hasCache && { uncachedTokens, cacheReadTokens, cacheWriteTokens }),
      ...positive(counts.inputParts),
    }),
    outputTokens: output,
    outputTokenDetails: unlessEmpty({
      ...(thoughts !== undefined && {
        reasoningTokens: thoughts,
        responseTokens: Math.max(0, (output ?? 0) - thoughts),
      }),
      ...positive(counts.outputParts),
    }),
    totalTokens: asCount(counts.total) ?? (input ?? 0) + (output ?? 0),
    webSearches: asCount(counts.webSearches) || undefined,
  });
}

/** The counts that are more than 0. */
function positive(parts: Readonly<Record<string, unknown>> = {}): Record<string, number> {
  return Object.fromEntries(
    Object.entries(parts).flatMap(([name, value]) => {
      const count = asCount(value) ?? 0;
      return count > 0 ? [[name, count]] : [];
    }),
  );
}

function unlessEmpty<T extends object>(members: T): T | undefined {
  return Object.keys(members).length === 0 ? undefined : members;
}

/** Reads the usage of OpenAI's APIs, whose counts have the same structure under different names. */
export function readOpenAIUsage(usage: Json, input: string, output: string): LlmUsage | undefined {
  const details = asObject(usage[`${input}_details`]);
  const cached = asObject(details.cached_tokens_details);
  const outputDetails = asObject(usage[`${output}_details`]);
  return composeUsage({
    input: usage[input],
    cacheRead: details.cached_tokens,
    cacheWrite: details.cache_write_tokens,
    output: usage[output],
    reasoning: outputDetails.reasoning_tokens,
    total: usage.total_tokens,
    inputParts: {
      audioTokens: details.audio_tokens,
      imageTokens: details.image_tokens,
      cacheReadAudioTokens: cached.audio_tokens,
      cacheReadImageTokens: cached.image_tokens,
      cacheWriteHalfDayTokens: asObject(details.cache_write_tokens_details).ttl_12h,
    },
    outputParts: { audioTokens: outputDetails.audio_tokens, imageTokens: outputDetails.image_tokens },
  });
}

function asCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
