import type { Json } from '../../read/protobuf-struct.ts';
import { setMember } from '../spans/attributes.ts';
import { parseEmbeddedJson } from '../spans/exact-json.ts';
import { type AttributeReader, asNumber } from './attribute-reader.ts';
import { isJsonObject, withoutType } from './messages/messages.ts';
import type { Row } from './table.ts';

/** `properties.llm.usage`, as tokens. Langfuse, LangSmith and LangWatch send one object: see `usageObjects`. */
export const usageRows = {
  input: {
    genAi: [
      'gen_ai.usage.input_tokens',
      'gen_ai.usage.prompt_tokens',
      'gen_ai.response.prompt_tokens',
      'input_tokens',
    ],
    openInference: ['llm.token_count.prompt'],
    vercel: ['ai.usage.inputTokens', 'ai.usage.promptTokens'],
    openLlmetry: ['llm.usage.prompt_tokens', 'mlflow.chat.tokenUsage#input_tokens'],
  },
  cacheRead: {
    genAi: [
      'gen_ai.usage.cache_read.input_tokens',
      'gen_ai.usage.cache_read_input_tokens',
      'gen_ai.usage.input_tokens.cached',
      'cache_read_tokens',
    ],
    openInference: ['llm.token_count.prompt_details.cache_read'],
    vercel: ['ai.usage.inputTokenDetails.cacheReadTokens', 'ai.usage.cachedInputTokens'],
    openLlmetry: ['llm.usage.cached_tokens', 'mlflow.chat.tokenUsage#cache_read_input_tokens'],
  },
  cacheWrite: {
    genAi: [
      'gen_ai.usage.cache_write.input_tokens',
      'gen_ai.usage.cache_creation.input_tokens',
      'gen_ai.usage.cache_creation_input_tokens',
      'gen_ai.usage.input_tokens.cache_write',
      'cache_creation_tokens',
    ],
    openInference: ['llm.token_count.prompt_details.cache_write'],
    vercel: ['ai.usage.inputTokenDetails.cacheWriteTokens'],
    openLlmetry: ['mlflow.chat.tokenUsage#cache_creation_input_tokens'],
  },
  output: {
    genAi: [
      'gen_ai.usage.output_tokens',
      'gen_ai.usage.completion_tokens',
      'gen_ai.response.completion_tokens',
      'output_tokens',
    ],
    openInference: ['llm.token_count.completion'],
    vercel: ['ai.usage.outputTokens', 'ai.usage.completionTokens'],
    openLlmetry: ['llm.usage.completion_tokens', 'mlflow.chat.tokenUsage#output_tokens'],
  },
  reasoning: {
    genAi: [
      'gen_ai.usage.reasoning.output_tokens',
      'gen_ai.usage.reasoning_tokens',
      'gen_ai.usage.output_tokens.reasoning',
      'thoughts_token_count',
      'gen_ai.usage.thinking_tokens',
      'gen_ai.usage.details.reasoning_tokens',
    ],
    openInference: ['llm.token_count.completion_details.reasoning'],
    vercel: ['ai.usage.outputTokenDetails.reasoningTokens', 'ai.usage.reasoningTokens'],
    openLlmetry: ['llm.usage.reasoning_tokens'],
  },
  total: {
    genAi: ['gen_ai.usage.total_tokens'],
    openInference: ['llm.token_count.total'],
    vercel: ['ai.usage.totalTokens', 'ai.usage.tokens'],
    openLlmetry: ['llm.usage.total_tokens', 'mlflow.chat.tokenUsage#total_tokens'],
  },
} as const satisfies Record<string, Row>;

type Counts = Partial<Record<keyof typeof usageRows, number>>;

/**
 * Maps the tokens of a call to `properties.llm.usage` (docs/api.md §2.6).
 *
 * @param raw the provider's own counts, if the span has its response. They add what a sender has no attribute for.
 * @returns undefined when none are known.
 */
export function mapUsage(reader: AttributeReader, raw?: Json): { [key: string]: Json } | undefined {
  const counted = countsIn(
    reader.get('gen_ai.usage.raw') ?? raw ?? readPrinted(reader.get('metadata.usage_object')),
  );
  const counts = findCounts(reader) ?? takeCounts(reader) ?? counted;
  if (counts === undefined) return undefined;
  addDetails(counts, counted);
  const input = splitInput(
    counts,
    exclusiveCounts.some((name) => reader.get(name) !== undefined),
  );
  const output = splitOutput(counts);
  const sum = (input?.inputTokens ?? 0) + (output?.outputTokens ?? 0);
  const isWhole = input !== undefined && output !== undefined;
  const total = counts.total === undefined ? (isWhole ? sum : undefined) : Math.max(counts.total, sum);
  return { ...input, ...output, ...(total !== undefined && { totalTokens: total }) };
}

/** LiteLLM sends the provider's counts as Python prints them: `{'prompt_tokens': 20, 'prompt_tokens_details': None}`. */
function readPrinted(value: Json | undefined): Json | undefined {
  if (typeof value !== 'string' || !/^\{[\w\s'{}:,.]*\}$/.test(value)) return undefined;
  return parseEmbeddedJson(value.replaceAll("'", '"').replaceAll('None', 'null'));
}

function addDetails(counts: Counts, raw: Counts = {}): void {
  for (const name of ['cacheRead', 'cacheWrite', 'reasoning'] as const) {
    const count = counts[name] ?? raw[name];
    if (count !== undefined) counts[name] = count;
  }
}

function takeCounts(reader: AttributeReader): Counts | undefined {
  const counts: Counts = {};
  for (const name of Object.keys(usageRows) as (keyof typeof usageRows)[]) {
    const count = reader.number(usageRows[name]);
    if (count !== undefined) counts[name] = count;
  }
  return Object.keys(counts).length === 0 ? undefined : counts;
}

/** Claude Code sends Anthropic's own counts: the input does not include the cached tokens. */
const exclusiveCounts = ['cache_read_tokens', 'cache_creation_tokens'];

/**
 * By convention the input includes the cached tokens. The sender excluded them if the input is less than them, or if only their sum
 * results in the total: then they are added.
 */
function splitInput(
  { input, cacheRead, cacheWrite, output, reasoning, total }: Counts,
  isOfProvider: boolean,
) {
  if (input === undefined && cacheRead === undefined && cacheWrite === undefined) return undefined;
  const cached = (cacheRead ?? 0) + (cacheWrite ?? 0);
  const isSum = input !== undefined && output !== undefined && input + cached + output === total;
  // Gemini's total includes reasoning tokens that its output does not.
  const isExcluded = isOfProvider || (isSum && cached > 0 && cached !== reasoning);
  const inputTokens = input === undefined || cached > input || isExcluded ? (input ?? 0) + cached : input;
  if (cacheRead === undefined && cacheWrite === undefined) return { inputTokens };
  return {
    inputTokens,
    inputTokenDetails: {
      uncachedTokens: inputTokens - cached,
      ...(cacheRead !== undefined && { cacheReadTokens: cacheRead }),
      ...(cacheWrite !== undefined && { cacheWriteTokens: cacheWrite }),
    },
  };
}

/**
 * By convention the output includes the reasoning tokens. The sender excluded them if it is less than them, or if only their sum results in the
 * total (Gemini): then they are added.
 */
function splitOutput({ input, output, reasoning, total }: Counts) {
  if (output === undefined && reasoning === undefined) return undefined;
  const isSum = input !== undefined && output !== undefined && input + output + (reasoning ?? 0) === total;
  const isExcluded = output === undefined || (reasoning ?? 0) > output || isSum;
  const outputTokens = isExcluded ? (output ?? 0) + (reasoning ?? 0) : output;
  if (reasoning === undefined) return { outputTokens };
  return {
    outputTokens,
    outputTokenDetails: { reasoningTokens: reasoning, responseTokens: outputTokens - reasoning },
  };
}

const usageObjects = {
  langfuse: ['langfuse.observation.usage_details'],
  genAi: ['langsmith.metadata.usage_metadata', 'langwatch.metrics'],
};

/**
 * Reads the counts that Langfuse, LangSmith and LangWatch send as one object. Langfuse's counts exclude each other: `input` does not
 * include `input_cached_tokens`. The nested counts of OpenAI and LangChain are parts of their totals. The attribute is not
 * taken: it may hold counts that Weir has no field for.
 */
function findCounts(reader: AttributeReader): Counts | undefined {
  return countsIn(reader.find(usageObjects)?.value);
}

/** The counts in an object, or in its JSON text. */
function countsIn(value: Json | undefined): Counts | undefined {
  const sent = withoutType((typeof value === 'string' ? parseEmbeddedJson(value) : value) ?? null);
  if (!isJsonObject(sent)) return undefined;
  const details = flat(sent);
  const names = Object.keys(details);
  const sumOf = (isOf: (name: string) => boolean) => {
    const counts = names.filter(isOf).map((name) => asNumber(details[name]));
    const known = counts.filter((count) => count !== undefined);
    return known.length === 0 ? undefined : known.reduce((sum, count) => sum + count, 0);
  };
  // LiteLLM has the cached tokens of Anthropic twice: as a count of its own, and as a part of another.
  const wholeOrPart = (isOf: (name: string) => boolean) =>
    sumOf((name) => !name.includes('.') && isOf(name)) ?? sumOf(isOf);
  const counts = {
    input: sumOf((name) => /^prompt(?:_t|T)okens$/.test(name) || isWhole(name, 'input')),
    cacheRead: wholeOrPart((name) => /cached|cache_?read/i.test(name)),
    cacheWrite: wholeOrPart((name) => /cache_?(?:creation|write)/i.test(ownNameOf(name))),
    output: sumOf((name) => /^completion(?:_t|T)okens$/.test(name) || isWhole(name, 'output')),
    reasoning: sumOf((name) => /reasoning|^thoughtsTokens$/.test(name)),
    total: sumOf((name) => /^total(?:_tokens|Tokens)?$/.test(name)),
  };
  const known = Object.entries(counts).filter(([, count]) => count !== undefined);
  return known.length === 0 ? undefined : (Object.fromEntries(known) as Counts);
}

/** Whether a count is named so, and is no part of another. A sender chooses the names: one of a megabyte must not take quadratic time. */
function isWhole(name: string, word: string): boolean {
  return name.includes(word) && !name.includes('.') && !otherUnits.some((unit) => name.endsWith(unit));
}

/** Genkit also counts in other units: `inputCharacters`. */
const otherUnits = ['Characters', 'Images', 'Videos', 'AudioFiles'];

/** Anthropic sends the parts of a sum, too: `cache_creation.ephemeral_5m_input_tokens`. */
function ownNameOf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

/** Flattens OpenAI's counts, which are nested: `prompt_tokens_details.cached_tokens` is a part of `prompt_tokens`. */
function flat(details: { readonly [key: string]: Json }): { [key: string]: Json } {
  const counts: { [key: string]: Json } = {};
  for (const [name, value] of Object.entries(details)) {
    if (!isJsonObject(value)) setMember(counts, name, value);
    else for (const [part, count] of Object.entries(value)) setMember(counts, `${name}.${part}`, count);
  }
  return counts;
}
