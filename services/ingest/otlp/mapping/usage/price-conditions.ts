import type { Json, JsonObject } from '../../../../../event/json/json-value.ts';
import { type AttributeReader, asNumber } from '../attribute-reader.ts';
import { compact, objectIn } from '../json-object.ts';
import { defineRows } from '../rows.ts';
import { readProviderMetadata } from './provider-metadata.ts';

/**
 * What the price of a call depends on besides its tokens, and what the sender says that it cost (docs/api.md
 * §2.6).
 */
const conditionRows = defineRows({
  /** The response's tier: what a request asks for, such as `auto`, says nothing. */
  serviceTier: {
    genAi: [
      'openai.response.service_tier',
      'gen_ai.openai.response.service_tier',
      'gen_ai.response.service_tier',
      'gen_ai.anthropic.response.service_tier',
      'aws.bedrock.response.service_tier',
      'aws.bedrock.service_tier',
    ],
  },
  cost: {
    genAi: [
      'gen_ai.usage.cost',
      'gen_ai.cost.total_cost',
      'gen_ai.cost.total',
      'gen_ai.usage.total_cost',
      'gen_ai.usage.estimated_cost',
      'cost_usd',
      'langwatch.metrics#cost',
      'braintrust.metrics#estimated_cost',
    ],
    openInference: ['llm.cost.total'],
  },
  currency: { genAi: ['gen_ai.usage.cost.currency', 'gen_ai.usage.cost_currency', 'gen_ai.cost.currency'] },
});

/** @param raw the provider's own response, if the span has it. */
export function mapPriceConditions(
  reader: AttributeReader,
  raw: { readonly usage: Json | undefined; readonly serviceTier: Json | undefined },
): JsonObject {
  const metadata = readProviderMetadata(reader);
  const usages = [reader.get('gen_ai.usage.raw'), raw.usage, metadata?.usage].map(objectIn);
  const first = (name: string) => usages.find((usage) => usage?.[name] !== undefined)?.[name];
  const tier =
    first('speed') === 'fast'
      ? 'fast'
      : (reader.text(conditionRows.serviceTier) ??
        raw.serviceTier ??
        metadata?.serviceTier ??
        first('service_tier') ??
        first('trafficType') ??
        tierOfCounts(reader));
  const region = first('inference_geo') ?? regionalHost.exec(String(reader.get('server.address')))?.[1];
  return compact({
    serviceTier: typeof tier === 'string' && tier !== '' ? tier : undefined,
    region: typeof region === 'string' && region !== '' ? region : undefined,
    cost: mapCost(reader, first('cost')),
  });
}

/** OpenAI's addresses of a region say where inference is; its responses do not. */
const regionalHost = /^(us|eu)\.api\.openai\.com$/;

/** Langfuse has the tier of LangChain in the names of counts: `input_priority`. */
function tierOfCounts(reader: AttributeReader): string | undefined {
  const counts = objectIn(reader.get('langfuse.observation.usage_details')) ?? {};
  return ['priority', 'flex'].find((tier) =>
    [`input_${tier}`, `output_${tier}`].some((name) => (asNumber(counts[name]) ?? 0) > 0),
  );
}

/** @param ofUsage the cost in a usage object, as OpenRouter sends it. */
function mapCost(reader: AttributeReader, ofUsage: Json | undefined): JsonObject | undefined {
  const details = objectIn(reader.get('langfuse.observation.cost_details'));
  const total =
    sumOf(details) ?? reader.number(conditionRows.cost) ?? sumOf(partsOf(reader)) ?? asNumber(ofUsage);
  // Senders report 0 for failed calls, and for models whose price they do not know.
  if (total === undefined || total <= 0) return undefined;
  return { total, currency: reader.text(conditionRows.currency) ?? 'USD' };
}

function partsOf(reader: AttributeReader): JsonObject {
  return compact({ input: reader.get('llm.cost.prompt'), output: reader.get('llm.cost.completion') });
}

function sumOf(costs: { readonly [key: string]: Json } | undefined): number | undefined {
  if (costs === undefined) return undefined;
  const total = asNumber(costs.total);
  const parts = Object.values(costs).flatMap((value) => asNumber(value) ?? []);
  return total ?? (parts.length === 0 ? undefined : parts.reduce((sum, part) => sum + part, 0));
}
