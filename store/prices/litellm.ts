import { inputBounds, pricedRegions } from '../../event/usage/price-class.ts';
import type { UsagePart } from '../../event/usage/usage-parts.ts';
import { priceDecimals } from './decimal.ts';
import { isSamePrice, type ListPrice } from './list-price.ts';
import { findByName, releaseName, undatedName } from './model-names.ts';
import type { Rates } from './rates.ts';

/** LiteLLM's names of makers of models, which events leave out: `grok-4`, not `xai/grok-4`. */
const makers = [
  'anthropic',
  'cohere_chat',
  'deepseek',
  'gemini',
  'mistral',
  'moonshot',
  'openai',
  'text-completion-openai',
  'xai',
  'zai',
];

/** Clouds that sell models of several makers, at prices of their own. */
const clouds = [
  'azure',
  'bedrock',
  'bedrock_converse',
  'groq',
  'vertex_ai-anthropic_models',
  'vertex_ai-language-models',
];

const modes = ['chat', 'completion', 'responses', 'realtime', 'image_generation'];

/**
 * Reads LiteLLM's `model_prices_and_context_window.json`: the prices per token of the known providers'
 * models of texts and images, by kind, tier and size of the input. Names that {@link findByName} leads to an
 * equal price are left out.
 */
export function readLiteLlm(file: Readonly<Record<string, unknown>>): ListPrice[] {
  // The shortest name first: `anthropic.claude-…` is the common price, `us.anthropic.…` a region's.
  const entries = Object.entries(file)
    .flatMap(([name, value]) => readEntry(name.toLowerCase(), value))
    .toSorted((a, b) => Number(b.isOfMaker) - Number(a.isOfMaker) || compareLengths(a.price, b.price));
  const byName = new Map(entries.map(({ price }) => [price.model, price]));
  for (const { price, isOfMaker } of entries) {
    const release = releaseName(price.model);
    // Clouds sell Claude at the prices of its maker, also releases that the maker no longer lists.
    if (!isOfMaker && !release.startsWith('claude')) continue;
    for (const model of [release, undatedName(release)]) {
      if (!byName.has(model)) byName.set(model, { ...price, model });
    }
  }
  const all = [...byName.values()].toSorted((a, b) => compareLengths(b, a));
  const isFound = (price: ListPrice) => {
    const found = findByName(byName, price.model);
    return found !== undefined && isSamePrice(price, found);
  };
  for (const price of all) {
    byName.delete(price.model);
    if (!isFound(price)) byName.set(price.model, price);
  }
  // The name that led to an equal price may be left out, too, and another one may lead elsewhere.
  for (let missing = all; missing.length > 0; ) {
    missing = all.filter((price) => !isFound(price));
    for (const price of missing) byName.set(price.model, price);
  }
  return [...byName.values()].toSorted((a, b) => (a.model < b.model ? -1 : 1));
}

function readEntry(model: string, value: unknown) {
  if (typeof value !== 'object' || value === null) return [];
  const entry: Record<string, unknown> = { ...value };
  const provider = String(entry.litellm_provider);
  const isOfMaker = makers.includes(provider);
  if (!modes.includes(String(entry.mode)) || !(isOfMaker || clouds.includes(provider))) return [];
  const input = perMillion(entry.input_cost_per_token);
  // Some models answer with images only.
  const output = perMillion(entry.output_cost_per_token) ?? perMillion(entry.output_cost_per_image_token);
  // Both are 0 for previews, and for models that are paid by the hour.
  if (input === null || output === null || (input === '0' && output === '0')) return [];
  const cacheRead = perMillion(entry.cache_read_input_token_cost);
  const cacheWrite = perMillion(entry.cache_creation_input_token_cost);
  return [{ price: { model, input, output, cacheRead, cacheWrite, rates: readRates(entry) }, isOfMaker }];
}

/** LiteLLM's names of kinds; those with a life come before the ones that they begin with. */
const kindNames: readonly (readonly [string, 'input' | 'output' | 'cacheRead' | 'cacheWrite' | UsagePart])[] =
  [
    ['cache_creation_input_token_cost_above_12hr', 'cacheWriteHalfDay'],
    ['cache_creation_input_token_cost_above_1hr', 'cacheWriteHour'],
    ['cache_creation_input_token_cost', 'cacheWrite'],
    ['cache_read_input_token_cost', 'cacheRead'],
    ['cache_read_input_audio_token_cost', 'audioCacheRead'],
    ['cache_read_input_image_token_cost', 'imageCacheRead'],
    ['input_cost_per_token', 'input'],
    ['input_cost_per_audio_token', 'audioInput'],
    ['input_cost_per_image_token', 'imageInput'],
    ['output_cost_per_token', 'output'],
    ['output_cost_per_audio_token', 'audioOutput'],
    ['output_cost_per_image_token', 'imageOutput'],
  ];
const condition = /^(?:_above_(\d+)k_tokens)?(?:_(batches|priority|flex|fast|ultrafast))?$/;

function readRates(entry: Readonly<Record<string, unknown>>): Rates {
  const rates: Rates = {};
  for (const [name, value] of Object.entries(entry)) {
    const [prefix = '', kind] = kindNames.find(([own]) => name.startsWith(own)) ?? [];
    const found = kind === undefined ? null : condition.exec(name.slice(prefix.length));
    const price = perMillion(value);
    if (kind === undefined || found === null || price === null) continue;
    const bound = Number(found[1] ?? 0) * 1_000;
    const tier = found[2]?.replace('batches', 'batch');
    if (bound > 0 && !inputBounds.some((one) => one === bound)) continue;
    const key = [kind, ...(tier === undefined ? [] : [tier]), ...(bound === 0 ? [] : [`>${bound}`])].join(
      ' ',
    );
    if (!['input', 'output', 'cacheRead', 'cacheWrite'].includes(key)) rates[key] = price;
  }
  const searches = memberOf(entry.search_context_cost_per_query, 'search_context_size_medium');
  if (searches !== null) rates.webSearches = searches;
  for (const word of [...pricedRegions, 'fast']) {
    // Of Anthropic, and of OpenAI.
    const ofProvider = memberOf(entry.provider_specific_entry, word);
    const factor = ofProvider ?? perMillion(entry[`regional_processing_uplift_multiplier_${word}`]);
    if (factor !== null) rates[`factor ${word}`] = String(Number(factor) / 1_000_000);
  }
  return rates;
}

function memberOf(value: unknown, name: string): string | null {
  return typeof value === 'object' && value !== null && name in value
    ? perMillion(value[name as keyof typeof value])
    : null;
}

/** Dollars per million tokens as a decimal, from a floating-point number of dollars per token. */
function perMillion(perToken: unknown): string | null {
  if (typeof perToken !== 'number' || !(perToken >= 0)) return null;
  return (perToken * 1_000_000).toFixed(priceDecimals).replace(/\.?0+$/, '');
}

/** Of names of equal length the later date comes first. */
function compareLengths(a: ListPrice, b: ListPrice): number {
  return a.model.length - b.model.length || (a.model > b.model ? -1 : 1);
}
