import type { Adapter, LlmAnswer, StreamReader, ToolCall } from '../wire/adapter.ts';
import { asArray, asIndex, asObject, asText, inOrder, type Json, textsOf } from '../wire/read.ts';
import { composeRequest, type RequestParts } from '../wire/request.ts';
import { readOpenAIUsage } from '../wire/usage.ts';
import { readStreamError } from './chat.ts';

/** OpenAI's Responses API. */
export const responses: Adapter = {
  source: 'openai',
  sourcePackage: 'openai',
  sourceFunction: 'responses.create',
  path: /\/responses$/,
  readRequest: (text) => composeRequest(text, readParts),
  readAnswer: (text) => compose(asObject(JSON.parse(text))),
  openStream: () => new ResponsesStream(),
};

function readParts({ instructions, input, text: output }: Json): RequestParts {
  return {
    system: [asText(instructions) ?? [], textsOf(input, ['system', 'developer'])].flat().join('\n\n'),
    prompt: asText(input) ?? textsOf(input, ['user']).at(-1),
    tools: ['tools'],
    messages: 'input',
    format: asObject(output).format,
  };
}

function compose(body: Json): LlmAnswer {
  const items = asArray(body.output).map(asObject);
  const { status, usage, error } = body;
  const { reason } = asObject(body.incomplete_details);
  return {
    model: asText(body.model),
    response: items.flatMap(textsOfItem).join(''),
    reasoning: items.flatMap(reasoningOfItem).join('\n\n') || undefined,
    toolCalls: items.flatMap(readCall),
    usage: readOpenAIUsage(asObject(usage), 'input_tokens', 'output_tokens'),
    finishReason: asText(reason) ?? asText(status),
    serviceTier: asText(body.service_tier),
    responseId: asText(body.id),
    error: readStreamError(asObject(error)),
    isComplete: status !== undefined && status !== 'in_progress' && status !== 'queued',
  };
}

function textsOfItem({ type, content }: Json): string[] {
  if (type !== 'message') return [];
  return asArray(content).flatMap((part) => {
    const { text, refusal } = asObject(part);
    return asText(text) ?? asText(refusal) ?? [];
  });
}

/** The texts of the reasoning, if the model sends it; otherwise of its summary. */
function reasoningOfItem({ type, content, summary }: Json): string[] {
  if (type !== 'reasoning') return [];
  const texts = [content, summary].map((parts) =>
    asArray(parts).flatMap((part) => asText(asObject(part).text) ?? []),
  );
  return texts.find((found) => found.length > 0) ?? [];
}

function readCall(item: Json): ToolCall[] {
  if (item.type !== 'function_call' && item.type !== 'custom_tool_call') return [];
  const text = asText(item.arguments) ?? asText(item.input) ?? '';
  return [{ id: asText(item.call_id) ?? asText(item.id), name: asText(item.name), arguments: text }];
}

/**
 * The last event contains the whole response. If the stream ends before it, the response is built from items
 * and deltas.
 */
class ResponsesStream implements StreamReader {
  #response: Json = {};
  #error: Json | undefined;
  #isOver = false;
  /** Items by their index, with the text of their deltas. */
  readonly #items = new Map<number, { item: Json; text: string }>();

  push(data: string): void {
    if (data === '[DONE]') return;
    const event = asObject(JSON.parse(data));
    const type = asText(event.type) ?? '';
    if (event.response) this.#response = asObject(event.response);
    if (/^response\.(completed|failed|incomplete|cancelled)$/.test(type)) this.#isOver = true;
    else if (type === 'error') this.#error = asObject(event.error ?? event);
    else if (type.startsWith('response.output_item.')) this.#entryAt(event).item = asObject(event.item);
    else if (type.endsWith('.delta') && /text|refusal|arguments|input/.test(type)) {
      this.#entryAt(event).text += asText(event.delta) ?? '';
    }
  }

  answer(): LlmAnswer {
    const output = inOrder(this.#items).map(complete);
    const whole = this.#isOver ? this.#response : { ...this.#response, output };
    const { error, ...answer } = compose(whole);
    return {
      ...answer,
      error: this.#error ? readStreamError(this.#error) : error,
      isComplete: this.#isOver,
    };
  }

  #entryAt({ output_index: index }: Json) {
    const at = asIndex(index);
    const entry = this.#items.get(at) ?? { item: {}, text: '' };
    this.#items.set(at, entry);
    return entry;
  }
}

function complete({ item, text }: { item: Json; text: string }): Json {
  if (item.status === 'completed') return item;
  if (item.type === 'function_call') return { ...item, arguments: text };
  if (item.type === 'custom_tool_call') return { ...item, input: text };
  if (item.type === 'reasoning') return { ...item, content: [{ text }] };
  // Items such as searches and remote tools: their deltas are not text of the response.
  if (item.type !== undefined && item.type !== 'message') return item;
  return { type: 'message', content: [{ type: 'output_text', text }] };
}
