import { parseEmbeddedJson } from '../../../../../event/json/embedded-json.ts';
import type { Json } from '../../../../../event/json/json-value.ts';
import type { AttributeReader } from '../attribute-reader.ts';
import { compact, unlessEmpty } from '../json-object.ts';
import { defineRows } from '../rows.ts';
import { addCompactions } from './iterations.ts';
import { readProviderMetadata } from './provider-metadata.ts';
import { countsIn } from './usage-objects.ts';
import { type Counts, usageRows } from './usage-rows.ts';

/**
 * Maps the tokens of a call to `properties.llm.usage` (docs/api.md §2.6).
 * @param raw the provider's own counts, if the span has its response. They add what a sender has no attribute
 * for.
 * @returns undefined when none are known.
 */
export function mapUsage(reader: AttributeReader, raw?: Json): { [key: string]: Json } | undefined {
  const metadata = readProviderMetadata(reader);
  const own = reader.get('gen_ai.usage.raw') ?? raw ?? readPrinted(reader.get('metadata.usage_object'));
  const counted = countsIn(own);
  // The attribute is not taken: it may hold counts that Weir has no field for.
  const counts = countsIn(reader.find(objectRows.usage)?.value) ?? takeCounts(reader) ?? counted;
  if (counts === undefined) return undefined;
  addDetails(counts, { ...metadata?.counts, ...counted });
  const isOfClaudeCode = exclusiveCounts.some((name) => reader.get(name) !== undefined);
  // Claude Code writes to the one-hour cache.
  if (isOfClaudeCode && counts.cacheWrite !== undefined) counts.cacheWriteHour ??= counts.cacheWrite;
  // Pydantic AI sends the provider's counts alone for a model that it does not know.
  const isOfAnthropic =
    reader.get('gen_ai.usage.details.input_tokens') !== undefined &&
    reader.get('gen_ai.usage.input_tokens') === undefined;
  const isBesideInput =
    !includeCached(counts, counted) && (isOfClaudeCode || isOfAnthropic || metadata?.isBesideInput === true);
  addCompactions(counts, own ?? metadata?.usage);
  return composeUsage(counts, isBesideInput);
}

/** Adds cached tokens to the input of a sender that left them out, as the provider's own counts tell. */
function includeCached(counts: Counts, own: Counts = {}): boolean {
  const { input, cacheRead = 0, cacheWrite = 0 } = own;
  if (input === undefined || counts.input !== input - cacheRead - cacheWrite) return false;
  counts.input = input;
  return true;
}

/** @param isBesideInput whether the input is known not to include the cached tokens. */
export function composeUsage(counts: Counts, isBesideInput: boolean): { [key: string]: Json } {
  const input = splitInput(counts, isBesideInput);
  const output = splitOutput(counts);
  const sum = (input?.inputTokens ?? 0) + (output?.outputTokens ?? 0);
  const isWhole = input !== undefined && output !== undefined;
  const total = counts.total === undefined ? (isWhole ? sum : undefined) : Math.max(counts.total, sum);
  return compact({ ...input, ...output, totalTokens: total, webSearches: counts.webSearches || undefined });
}

/**
 * LiteLLM sends the provider's counts as Python prints them: `{'prompt_tokens': 20, 'prompt_tokens_details':
 * None}`.
 */
function readPrinted(value: Json | undefined): Json | undefined {
  if (typeof value !== 'string' || !/^\{[\w\s'{}:,.]*\}$/.test(value)) return undefined;
  return parseEmbeddedJson(value.replaceAll("'", '"').replaceAll('None', 'null'));
}

/** Counts that a sender may have no attribute for: all but those of which a call has one each. */
const wholes: readonly string[] = ['input', 'output', 'total'];

function addDetails(counts: Counts, raw: Counts): void {
  for (const name of usageNames) {
    const count = wholes.includes(name) ? undefined : (counts[name] ?? raw[name]);
    if (count !== undefined) counts[name] = count;
  }
}

const usageNames = Object.keys(usageRows) as (keyof typeof usageRows)[];

function takeCounts(reader: AttributeReader): Counts | undefined {
  const counts: Counts = {};
  for (const name of usageNames) {
    const count = reader.number(usageRows[name]);
    if (count !== undefined) counts[name] = count;
  }
  return Object.keys(counts).length === 0 ? undefined : counts;
}

/** Claude Code sends Anthropic's own counts: the input does not include the cached tokens. */
const exclusiveCounts = ['cache_read_tokens', 'cache_creation_tokens'];

/**
 * By convention the input includes the cached tokens. The sender excluded them if the input is less than
 * them, or if only their sum results in the total: then they are added.
 */
function splitInput(counts: Counts, isOfProvider: boolean) {
  const { input, cacheRead, cacheWrite, output, reasoning, total } = counts;
  if (input === undefined && cacheRead === undefined && cacheWrite === undefined) return undefined;
  const cached = (cacheRead ?? 0) + (cacheWrite ?? 0);
  const isSum = input !== undefined && output !== undefined && input + cached + output === total;
  // Gemini's total includes reasoning tokens that its output does not.
  const isExcluded = isOfProvider || (isSum && cached > 0 && cached !== reasoning);
  const inputTokens = input === undefined || cached > input || isExcluded ? (input ?? 0) + cached : input;
  const parts = compact({
    cacheWriteHourTokens: counts.cacheWriteHour || undefined,
    cacheWriteHalfDayTokens: counts.cacheWriteHalfDay || undefined,
    audioTokens: counts.audioInput || undefined,
    imageTokens: counts.imageInput || undefined,
    cacheReadAudioTokens: counts.audioCacheRead || undefined,
    cacheReadImageTokens: counts.imageCacheRead || undefined,
  });
  if (cacheRead === undefined && cacheWrite === undefined)
    return { inputTokens, inputTokenDetails: unlessEmpty(parts) };
  const details = compact({
    uncachedTokens: inputTokens - cached,
    cacheReadTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
    ...parts,
  });
  return { inputTokens, inputTokenDetails: details };
}

/**
 * By convention the output includes the reasoning tokens. The sender excluded them if it is less than them,
 * or if only their sum results in the total (Gemini): then they are added.
 */
function splitOutput({ input, output, reasoning, total, audioOutput, imageOutput }: Counts) {
  if (output === undefined && reasoning === undefined) return undefined;
  const isSum = input !== undefined && output !== undefined && input + output + (reasoning ?? 0) === total;
  const isExcluded = output === undefined || (reasoning ?? 0) > output || isSum;
  const outputTokens = isExcluded ? (output ?? 0) + (reasoning ?? 0) : output;
  const details = compact({
    reasoningTokens: reasoning,
    responseTokens: reasoning === undefined ? undefined : outputTokens - reasoning,
    audioTokens: audioOutput || undefined,
    imageTokens: imageOutput || undefined,
  });
  return { outputTokens, outputTokenDetails: unlessEmpty(details) };
}

/** Langfuse, LangSmith and LangWatch send the counts as one object. */
const objectRows = defineRows({
  usage: {
    langfuse: ['langfuse.observation.usage_details'],
    genAi: ['langsmith.metadata.usage_metadata', 'langwatch.metrics'],
  },
});
