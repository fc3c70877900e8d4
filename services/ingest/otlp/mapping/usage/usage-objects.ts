import { parseIfJson } from '../../../../../event/json/embedded-json.ts';
import { isJsonObject, type Json, setMember } from '../../../../../event/json/json-value.ts';
import { asNumber } from '../attribute-reader.ts';
import { withoutType } from '../messages/messages.ts';
import type { Counts } from './usage-rows.ts';

/**
 * The counts in an object that a provider, a framework or a platform sends, or in its JSON text. Langfuse's
 * counts exclude each other:
 * `input` does not include `input_cached_tokens`, nor do Anthropic's. The nested counts of OpenAI, Google and
 * LangChain are parts of their totals.
 */
export function countsIn(value: Json | undefined): Counts | undefined {
  const sent = withoutType(parseIfJson(value ?? null));
  if (!isJsonObject(sent)) return undefined;
  const { sumOf, wholeOrPart, modality } = openSums(flat(sent));
  const lives = sumOf(isLife);
  const written = wholeOrPart((name) => /cache_?(?:creation|write)/i.test(ownNameOf(name)) && !isLife(name));
  const thoughts = sumOf((name) => name === 'thoughtsTokenCount');
  const candidates = sumOf((name) => name === 'candidatesTokenCount');
  const counts = {
    // LiteLLM has OpenAI's names of the wholes and Anthropic's of the cached tokens in one object.
    input:
      sumOf((name) => /^(?:prompt(?:_t|T)okens|promptTokenCount|toolUsePromptTokenCount)$/.test(name)) ??
      sumOf((name) => isWhole(name, 'input')),
    cacheRead: wholeOrPart(
      (name) => /cached|cache_?read/i.test(ownNameOf(name)) && !/audio|image/i.test(ownNameOf(name)),
    ),
    // LangChain empties the count of all writes when it has those of each life.
    cacheWrite: lives === undefined ? written : Math.max(lives, written ?? 0),
    cacheWriteHour: sumOf((name) => /ephemeral_1h/.test(name)),
    cacheWriteHalfDay: sumOf((name) => /ttl_12h/.test(name)),
    audioInput: modality('audio', /input|prompt/i),
    imageInput: modality('image', /input|prompt/i),
    audioCacheRead: modality('audio', /cache/i, true),
    imageCacheRead: modality('image', /cache/i, true),
    output:
      candidates === undefined
        ? (sumOf((name) => /^completion(?:_t|T)okens$/.test(name)) ??
          sumOf((name) => isWhole(name, 'output')))
        : candidates + (thoughts ?? 0),
    audioOutput: modality('audio', /output|completion|candidates/i),
    imageOutput: modality('image', /output|completion|candidates/i),
    reasoning: thoughts ?? sumOf((name) => /reasoning|^thoughtsTokens$|thinking_tokens$/.test(name)),
    webSearches: sumOf((name) => /web_?search(?:_?requests)?$/i.test(name)),
    total: sumOf((name) => /^total(?:_tokens|Tokens|TokenCount)?$/.test(name)),
  };
  const known = Object.entries(counts).filter(([, count]) => count !== undefined);
  return known.length === 0 ? undefined : (Object.fromEntries(known) as Counts);
}

/** Sums of the counts whose names match. */
function openSums(details: { readonly [key: string]: Json }) {
  const names = Object.keys(details);
  const sumOf = (isOf: (name: string) => boolean) => {
    const counts = names.filter(isOf).map((name) => asNumber(details[name]));
    const known = counts.filter((count) => count !== undefined);
    return known.length === 0 ? undefined : known.reduce((sum, count) => sum + count, 0);
  };
  return {
    sumOf,
    /** LiteLLM has the cached tokens of Anthropic twice: as a count of its own, and as a part of another. */
    wholeOrPart: (isOf: (name: string) => boolean) =>
      sumOf((name) => !name.includes('.') && isOf(name)) ?? sumOf(isOf),
    modality: (unit: keyof typeof modalities, isOf: RegExp, isCached = false) =>
      sumOf(
        (name) =>
          modalities[unit].test(ownNameOf(name)) && isOf.test(name) && isCached === /cache/i.test(name),
      ),
  };
}

/**
 * Whether a count is named so, and is no part of another. A sender chooses the names: one of a megabyte must
 * not take quadratic time.
 */
function isWhole(name: string, word: string): boolean {
  return (
    name.includes(word) &&
    !name.includes('.') &&
    !otherUnits.some((unit) => name.endsWith(unit)) &&
    !isLife(name) &&
    // LangChain counts the tokens of the priority tier within the others, and those of the flex tier beside
    // them.
    !name.includes('priority')
  );
}

/** Genkit also counts in other units: `inputCharacters`. */
const otherUnits = ['Characters', 'Images', 'Videos', 'AudioFiles'];

const modalities = { audio: /audio(?:_?tokens)?$/i, image: /image(?:_?tokens)?$/i };

/**
 * Anthropic and OpenAI send the parts of the written tokens, too: `cache_creation.ephemeral_5m_input_tokens`.
 */
function isLife(name: string): boolean {
  return /ephemeral_|ttl_\d/.test(name);
}

function ownNameOf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

/** Objects of counts are nested twice at most: `prompt_tokens_details.cache_write_tokens_details.ttl_12h`. */
const depthMax = 3;

/** Flattens nested counts: `prompt_tokens_details.cached_tokens` is a part of `prompt_tokens`. */
function flat(details: { readonly [key: string]: Json }, prefix = '', depth = 1): { [key: string]: Json } {
  const counts: { [key: string]: Json } = {};
  for (const [name, value] of Object.entries(details)) {
    if (isJsonObject(value)) {
      if (depth < depthMax) Object.assign(counts, flat(value, `${prefix}${name}.`, depth + 1));
    } else if (Array.isArray(value)) {
      // Google's lists: `{ modality: 'AUDIO', tokenCount: 5 }`.
      for (const one of value)
        if (isJsonObject(one) && typeof one.modality === 'string')
          setMember(counts, `${prefix}${name}.${one.modality.toLowerCase()}_tokens`, one.tokenCount ?? null);
    } else setMember(counts, `${prefix}${name}`, value);
  }
  return counts;
}
