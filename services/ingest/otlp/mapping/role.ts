import type { Json } from '../../../../event/json/json-value.ts';
import { type Attributes, textOf } from '../spans/attributes.ts';
import type { Span } from '../spans/span.ts';
import { unquoted } from './attribute-reader.ts';
import { objectIn } from './json-object.ts';
import type { Convention } from './rows.ts';

/** How Weir treats a span. */
export type Role =
  /** A model or tool call, which becomes an event. `by` is the convention that identified it. */
  | { readonly kind: 'llm' | 'tool'; readonly by: Convention }
  /** An agent run. It becomes no event, but gives its agent to the events below it. */
  | { readonly kind: 'agent'; readonly by: Convention }
  /** Any other span, which is filtered out. */
  | { readonly kind: 'none'; readonly reason: FilterReason };

/** Why a span is filtered out. Filtered spans are counted by these names. */
export type FilterReason = 'not_genai' | 'embeddings' | 'agent' | 'aggregate' | 'merged' | 'unfinished';

type Rule = (attributes: Attributes) => Role | undefined;

/** OpenLLMetry and AgentOps name the kind of a request. */
const requestTypes = {
  chat: 'llm',
  completion: 'llm',
  embedding: 'embeddings',
  rerank: 'embeddings',
  ...operationsOfLiteLlm(),
} satisfies Record<string, Word>;

/** The first rule that returns a role wins (ADR 0015). */
const rules: readonly Rule[] = [
  byWord('langfuse.observation.type', 'langfuse', {
    generation: 'llm',
    tool: 'tool',
    agent: 'agent',
    embedding: 'embeddings',
  }),
  byWord('openinference.span.kind', 'openInference', {
    LLM: 'llm',
    TOOL: 'tool',
    AGENT: 'agent',
    EMBEDDING: 'embeddings',
  }),
  byWord('gen_ai.operation.name', 'genAi', {
    chat: 'llm',
    text_completion: 'llm',
    generate_content: 'llm',
    ...operationsOfLiteLlm(),
    // Semantic Kernel
    'chat.completions': 'llm',
    'text.completions': 'llm',
    execute_tool: 'tool',
    // Gemini CLI: its log records describe the calls.
    llm_call: 'aggregate',
    tool_call: 'aggregate',
    agent_call: 'agent',
    embeddings: 'embeddings',
    invoke_agent: 'agent',
    create_agent: 'agent',
    invoke_workflow: 'agent',
    // Steps of an agent that are no calls, whatever model and usage they repeat.
    plan: 'aggregate',
    retrieval: 'aggregate',
    handle_conversation_turn: 'aggregate',
    create_memory: 'aggregate',
    search_memory: 'aggregate',
    update_memory: 'aggregate',
    upsert_memory: 'aggregate',
    delete_memory: 'aggregate',
    apply_guardrail: 'aggregate',
    guardrail: 'aggregate',
  }),
  // traceAI
  byWord('gen_ai.span.kind', 'genAi', { LLM: 'llm', TOOL: 'tool', AGENT: 'agent', EMBEDDING: 'embeddings' }),
  byVercelOperation,
  byWord('braintrust.span_attributes', 'genAi', { llm: 'llm', tool: 'tool' }, typeMember),
  // The step of a run of Mastra's has the prompt of the model call below it.
  (attributes) => (has(attributes, 'mastra.model_step.input') ? { kind: 'llm', by: 'genAi' } : undefined),
  byWord('langsmith.span.kind', 'genAi', { llm: 'llm', tool: 'tool', embedding: 'embeddings' }),
  byWord('langwatch.span.type', 'openLlmetry', { llm: 'llm', tool: 'tool', agent: 'agent' }),
  byWord('genkit:metadata:subtype', 'genAi', { model: 'llm', tool: 'tool', embedder: 'embeddings' }),
  // Claude Code and VoltAgent
  byWord('span.type', 'genAi', { llm_request: 'llm', interaction: 'agent', llm: 'llm', tool: 'tool' }),
  // Below the run of an agent VoltAgent's spans name it, too.
  (attributes) =>
    textOf(attributes, 'entity.type') === 'agent' && !has(attributes, 'span.type')
      ? { kind: 'agent', by: 'genAi' }
      : undefined,
  // Pydantic AI before 1.5
  (attributes) =>
    has(attributes, 'agent_name') && has(attributes, 'model_name')
      ? { kind: 'agent', by: 'genAi' }
      : undefined,
  byWord('spring.ai.kind', 'genAi', { tool_call: 'tool' }),
  byWord('lmnr.span.type', 'genAi', { LLM: 'llm', TOOL: 'tool' }),
  byWord('traceloop.span.kind', 'openLlmetry', { tool: 'tool', agent: 'agent' }),
  byWord('mlflow.spanType', 'openLlmetry', {
    CHAT_MODEL: 'llm',
    LLM: 'llm',
    TOOL: 'tool',
    AGENT: 'agent',
    EMBEDDING: 'embeddings',
  }),
  byWord('agentops.span.kind', 'openLlmetry', { tool: 'tool', agent: 'agent' }),
  byWord('llm.request.type', 'openLlmetry', requestTypes),
  byWord('gen_ai.request.type', 'openLlmetry', requestTypes),
  // Haystack's own tracing names the component's class: `OpenAIChatGenerator`, `AnthropicChatGenerator`,
  // `OpenAIGenerator`.
  (attributes) =>
    textOf(attributes, 'haystack.component.type')?.endsWith('Generator')
      ? { kind: 'llm', by: 'genAi' }
      : undefined,
  (attributes) => (has(attributes, 'gen_ai.tool.name') ? { kind: 'tool', by: 'genAi' } : undefined),
  byModelAndUsage,
];

/**
 * Determines the role of a span from the span alone. store/traces/span-tree.ts then merges LLM spans that
 * describe the same call.
 */
export function findRole({ attributes, endNs, name }: Span): Role {
  const isPending = textOf(attributes, 'logfire.span_type') === 'pending_span';
  if (isPending || endNs === 0n) return { kind: 'none', reason: 'unfinished' };
  if (preparation.test(name) || isStepOfBeeAi(attributes)) return { kind: 'none', reason: 'not_genai' };
  for (const rule of rules) {
    const role = rule(attributes);
    if (role !== undefined) return role;
  }
  return { kind: 'none', reason: 'not_genai' };
}

/** LlamaIndex marks the function that prepares a request as an LLM call. */
const preparation = /\._prepare_chat_with_tools$/;

/**
 * OpenInference for BeeAI creates spans of the kind of a run for its events, such as `error`. They have the
 * event's path, and no class.
 */
function isStepOfBeeAi(attributes: Attributes): boolean {
  return has(attributes, 'metadata.path') && !has(attributes, 'metadata.class_name');
}

/** LiteLLM sends the names of its functions, those of the asynchronous library with an `a`. */
function operationsOfLiteLlm(): Record<string, Word> {
  const words: Record<string, Word> = { anthropic_messages: 'llm' };
  for (const name of ['completion', 'text_completion', 'responses', 'generate_content', 'image_generation'])
    for (const prefix of ['', 'a']) words[prefix + name] = 'llm';
  for (const name of ['embedding', 'rerank'])
    for (const prefix of ['', 'a']) words[prefix + name] = 'embeddings';
  return words;
}

type Word = 'llm' | 'tool' | 'agent' | 'embeddings' | 'aggregate';

/** A rule by the value of one attribute. For unknown values the next rule applies. */
function byWord(
  name: string,
  by: Convention,
  words: Readonly<Record<string, Word>>,
  readWord: (sent: string) => string | undefined = unquoted,
): Rule {
  return (attributes) => {
    const sent = textOf(attributes, name);
    const text = sent && readWord(sent);
    const word = text !== undefined && Object.hasOwn(words, text) ? words[text] : undefined;
    if (word === undefined) return undefined;
    return word === 'embeddings' || word === 'aggregate'
      ? { kind: 'none', reason: word }
      : { kind: word, by };
  };
}

/** Braintrust's attribute: `{"type":"llm"}`. */
function typeMember(sent: string): string | undefined {
  const type = objectIn(sent)?.type;
  return typeof type === 'string' ? type : undefined;
}

/** `ai.generateText` is the sum of its steps, which are `ai.generateText.doGenerate`. */
function byVercelOperation(attributes: Attributes): Role | undefined {
  const operation = textOf(attributes, 'ai.operationId');
  if (operation === undefined) return undefined;
  if (/^ai\.embed/.test(operation)) return { kind: 'none', reason: 'embeddings' };
  if (/\.do(?:Generate|Stream)$/.test(operation)) return { kind: 'llm', by: 'vercel' };
  if (operation === 'ai.toolCall') return { kind: 'tool', by: 'vercel' };
  return { kind: 'none', reason: 'aggregate' };
}

/**
 * A span with one of these attributes is not identified by its model and usage: the attribute says that it is
 * of another kind.
 */
const kindAttributes = [
  'langfuse.observation.type',
  'openinference.span.kind',
  'traceloop.span.kind',
  // AG2 repeats the usage of each call in a span of the type `usage`.
  'ag2.span.type',
];
const modelAttributes = ['gen_ai.response.model', 'gen_ai.request.model', 'llm.model_name'];
const usageAttributes = [
  'gen_ai.usage.input_tokens',
  'gen_ai.usage.output_tokens',
  'gen_ai.usage.prompt_tokens',
  'gen_ai.usage.completion_tokens',
  'llm.token_count.prompt',
  'llm.token_count.completion',
  'llm.usage.total_tokens',
];

function byModelAndUsage(attributes: Attributes): Role | undefined {
  if (kindAttributes.some((name) => has(attributes, name))) return undefined;
  const isCall =
    modelAttributes.some((name) => has(attributes, name)) &&
    usageAttributes.some((name) => has(attributes, name));
  return isCall ? { kind: 'llm', by: 'genAi' } : undefined;
}

function has(attributes: Attributes, name: string): boolean {
  const value: Json | undefined = attributes.get(name);
  return value !== undefined && value !== null && value !== '';
}
