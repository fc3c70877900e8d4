import { dropUndefined } from '../event/drop-undefined.ts';
import type { LlmUsage } from '../event/event.ts';
import type { Adapter, LlmAnswer, StreamReader, ToolCall } from '../wire/adapter.ts';
import { sliceElements, sliceMembers } from '../wire/json-slice.ts';
import { asArray, asIndex, asObject, asText, inOrder, type Json, textOf, textsOf } from '../wire/read.ts';
import { composeRequest, type RequestParts } from '../wire/request.ts';
import { composeUsage } from '../wire/usage.ts';

/** Anthropic's Messages API. */
export const messages: Adapter = {
  source: 'anthropic',
  sourcePackage: '@anthropic-ai/sdk',
  sourceFunction: 'messages.create',
  // Paths of OpenAI's threads also end in /messages.
  path: /^(?!.*\/threads\/).*\/messages$/,
  readRequest: (text) => composeRequest(text, readParts),
  readAnswer,
  openStream: () => new MessageStream(),
};

interface Block {
  type: string;
  text: string;
  call: ToolCall;
}

function readParts({
  system,
  messages: list,
  output_format: format,
  output_config: config,
}: Json): RequestParts {
  return {
    system: textOf(system),
    prompt: textsOf(list, ['user']).at(-1),
    tools: ['tools'],
    messages: 'messages',
    format: format ?? asObject(config).format,
  };
}

function readAnswer(text: string): LlmAnswer {
  const body = asObject(JSON.parse(text));
  const blocks = sliceElements(sliceMembers(text).get('content') ?? '').map((raw) => {
    const block = readBlock(asObject(JSON.parse(raw)));
    // Keep the model's JSON text: parsing and serializing it again would round 64-bit integers.
    if (block.type === 'tool_use') block.call.arguments = sliceMembers(raw).get('input') ?? '{}';
    return block;
  });
  return compose(body, blocks, true);
}

function readBlock({ type, text, thinking, id, name }: Json): Block {
  return {
    type: String(type),
    text: asText(text) ?? asText(thinking) ?? '',
    call: { id: asText(id), name: asText(name), arguments: '' },
  };
}

function compose(message: Json, blocks: readonly Block[], isComplete: boolean): LlmAnswer {
  const sent = asObject(message.usage);
  const iterations = asArray(sent.iterations).map(asObject);
  const ofType = (type: string) => iterations.filter((one) => one.type === type);
  const usage = withCompactions(sent, ofType('compaction'));
  return {
    model: asText(ofType('fallback_message').at(-1)?.model) ?? asText(message.model),
    response: textsOfType(blocks, 'text').join(''),
    reasoning: textsOfType(blocks, 'thinking').join('\n\n') || undefined,
    toolCalls: blocks.filter(({ type }) => type === 'tool_use').map(({ call }) => call),
    usage: readUsage(usage),
    innerCalls: ofType('advisor_message').map((one) =>
      dropUndefined({ model: asText(one.model), usage: readUsage(one) }),
    ),
    serviceTier: usage.speed === 'fast' ? 'fast' : asText(usage.service_tier),
    region: asText(usage.inference_geo),
    finishReason: asText(message.stop_reason),
    responseId: asText(message.id),
    isComplete,
  };
}

function readUsage(usage: Json): LlmUsage | undefined {
  const { input_tokens: input, output_tokens: output } = usage;
  const { cache_read_input_tokens: read, cache_creation_input_tokens: write } = usage;
  return composeUsage({
    // Anthropic's input tokens do not include cached tokens.
    input: typeof input === 'number' ? input + (Number(read) || 0) + (Number(write) || 0) : undefined,
    cacheRead: read,
    cacheWrite: write,
    output,
    reasoning: asObject(usage.output_tokens_details).thinking_tokens,
    inputParts: { cacheWriteHourTokens: asObject(usage.cache_creation).ephemeral_1h_input_tokens },
    webSearches: asObject(usage.server_tool_use).web_search_requests,
  });
}

const counted = [
  'input_tokens',
  'output_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
] as const;

/** Adds the tokens of compactions, which the counts of the message do not include. */
function withCompactions(usage: Json, compactions: readonly Json[]): Json {
  if (compactions.length === 0) return usage;
  const all = [usage, ...compactions];
  const sum = (counts: readonly unknown[]) =>
    counts.reduce<number>((total, count) => total + (Number(count) || 0), 0);
  const lives = all.map((one) => asObject(one.cache_creation).ephemeral_1h_input_tokens);
  return {
    ...usage,
    ...Object.fromEntries(counted.map((name) => [name, sum(all.map((one) => one[name]))])),
    cache_creation: { ephemeral_1h_input_tokens: sum(lives) },
  };
}

function textsOfType(blocks: readonly Block[], type: string): string[] {
  return blocks.flatMap((block) => (block.type === type && block.text !== '' ? [block.text] : []));
}

/** Collects the blocks of a message from their deltas. */
class MessageStream implements StreamReader {
  #message: Json = {};
  #error: Json | undefined;
  #isOver = false;
  readonly #blocks = new Map<number, Block>();

  push(data: string): void {
    const event = asObject(JSON.parse(data));
    switch (event.type) {
      case 'message_start':
        this.#message = asObject(event.message);
        break;
      case 'content_block_start':
        this.#blocks.set(asIndex(event.index), readBlock(asObject(event.content_block)));
        break;
      case 'content_block_delta':
        this.#addDelta(this.#blocks.get(asIndex(event.index)), asObject(event.delta));
        break;
      case 'message_delta':
        this.#merge(asObject(event.delta), asObject(event.usage));
        break;
      case 'message_stop':
        this.#isOver = true;
        break;
      case 'error':
        this.#error = asObject(event.error);
    }
  }

  answer(): LlmAnswer {
    const blocks = inOrder(this.#blocks);
    for (const { type, call } of blocks) if (type === 'tool_use') call.arguments ||= '{}';
    const answer = compose(this.#message, blocks, this.#isOver);
    const { type, message } = this.#error ?? {};
    if (!this.#error) return answer;
    return { ...answer, error: { code: asText(type) ?? 'error', message: asText(message) ?? '' } };
  }

  #addDelta(block: Block | undefined, { text, thinking, partial_json: json }: Json): void {
    if (block === undefined) return;
    block.text += asText(text) ?? asText(thinking) ?? '';
    block.call.arguments += asText(json) ?? '';
  }

  /** The counts of `message_delta` are running totals. */
  #merge(delta: Json, counts: Json): void {
    const known = Object.entries(counts).filter(([, count]) => count !== null);
    const usage = { ...asObject(this.#message.usage), ...Object.fromEntries(known) };
    this.#message = { ...this.#message, stop_reason: delta.stop_reason ?? this.#message.stop_reason, usage };
  }
}
