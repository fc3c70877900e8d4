import { priceDecimals } from './decimal.ts';
import type { ListPrice } from './list-price.ts';
import { findByName, releaseName, undatedName } from './model-names.ts';

/** LiteLLM's names of those who sell their own models. Events name these without LiteLLM's prefix: `grok-4`, not `xai/grok-4`. */
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

const modes = ['chat', 'completion', 'responses'];

interface Entry {
  readonly price: ListPrice;
  readonly isOfMaker: boolean;
}

/**
 * Reads LiteLLM's `model_prices_and_context_window.json`: the prices per token of the known providers' text models. Prices that depend on
 * the length of the prompt, on batches or on priority are not read. Names that {@link findByName} leads to an equal price are left out.
 */
export function readLiteLlm(file: Readonly<Record<string, unknown>>): ListPrice[] {
  // The shortest name first: `anthropic.claude-…` is the common price, `us.anthropic.claude-…` that of a region.
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
  for (const price of [...byName.values()].toSorted((a, b) => compareLengths(b, a))) {
    byName.delete(price.model);
    const other = findByName(byName, price.model);
    if (other === undefined || !isEqual(price, other)) byName.set(price.model, price);
  }
  return [...byName.values()].toSorted((a, b) => (a.model < b.model ? -1 : 1));
}

function readEntry(model: string, value: unknown): Entry[] {
  if (typeof value !== 'object' || value === null) return [];
  const entry: Record<string, unknown> = { ...value };
  const provider = String(entry.litellm_provider);
  const isOfMaker = makers.includes(provider);
  if (!modes.includes(String(entry.mode)) || !(isOfMaker || clouds.includes(provider))) return [];
  const [input, output] = [perMillion(entry.input_cost_per_token), perMillion(entry.output_cost_per_token)];
  // Both are 0 for previews, and for models that are paid by the hour.
  if (input === null || output === null || (input === '0' && output === '0')) return [];
  const cacheRead = perMillion(entry.cache_read_input_token_cost);
  const cacheWrite = perMillion(entry.cache_creation_input_token_cost);
  return [{ price: { model, input, output, cacheRead, cacheWrite }, isOfMaker }];
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

function isEqual(a: ListPrice, b: ListPrice): boolean {
  return (['input', 'output', 'cacheRead', 'cacheWrite'] as const).every((kind) => a[kind] === b[kind]);
}
