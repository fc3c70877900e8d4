import { isJsonObject } from '../../../../../event/json/json-value.ts';
import { type AttributeReader, asNumber } from '../attribute-reader.ts';
import { countsIn } from './usage-objects.ts';
import type { Counts } from './usage-rows.ts';

/**
 * Reads `ai.response.providerMetadata`, which is all that the AI SDK 4 and 5 have of cached tokens and tiers.
 */
export function readProviderMetadata(reader: AttributeReader) {
  const json = reader.object('ai.response.providerMetadata');
  if (json === undefined) return undefined;
  const [name] = ['anthropic', 'bedrock', 'openai', 'azure', 'google', 'vertex'].filter((one) =>
    isJsonObject(json[one]),
  );
  const own = name === undefined ? undefined : json[name];
  if (name === undefined || !isJsonObject(own)) return undefined;
  const usage = own.usage ?? own.usageMetadata;
  const counts: Counts = { ...countsIn(usage), ...countsIn(own) };
  for (const [count, member] of renamed) {
    const value = asNumber(own[member]);
    if (value !== undefined) counts[count] = value;
  }
  // Since version 6 the SDK counts cached tokens within the input of every provider, and says so.
  const isIncluded = [...detailNames].some((detail) => reader.get(detail) !== undefined);
  return {
    counts,
    /** Whether the cached tokens are beside the input of the attributes. */
    isBesideInput: !isIncluded && (name === 'anthropic' || name === 'bedrock'),
    serviceTier:
      own.serviceTier ?? (isJsonObject(usage) ? (usage.service_tier ?? usage.trafficType) : undefined),
    /** The provider's own usage object, with further conditions. */
    usage,
  };
}

const renamed = [
  ['cacheRead', 'cachedPromptTokens'],
  ['cacheRead', 'cacheReadInputTokens'],
  ['cacheWrite', 'cacheCreationInputTokens'],
  ['reasoning', 'reasoningTokens'],
] as const;

const detailNames = ['noCacheTokens', 'cacheReadTokens', 'cacheWriteTokens'].map(
  (name) => `ai.usage.inputTokenDetails.${name}`,
);
