import type { EventError } from '../event/event.ts';
import { JsonText } from '../event/json-text.ts';
import type { Adapter, LlmAnswer, LlmRequest, StreamReader, ToolCall } from '../wire/adapter.ts';
import { sliceMembers } from '../wire/json-slice.ts';
import { asArray, asIndex, asObject, asText, inOrder, type Json, textOf, textsOf } from '../wire/read.ts';
import type { SseEvent } from '../wire/sse.ts';
import { composeUsage } from '../wire/usage.ts';

/** OpenAI's Chat Completions API, which many providers implement. */
export const chatCompletions: Adapter = {
  source: 'openai',
  sourcePackage: 'openai',
  sourceFunction: 'chat.completions.create',
  path: /\/chat\/completions$/,
  hasUsageOption: true,
  readRequest,
  readAnswer: (text) => {
    const body = asObject(JSON.parse(text));
    const choices = asArray(body.choices).map(asObject);
    const contents = choices.map(({ message }) => readMessage(asObject(message)));
    return compose(body, contents, asText(choices[0]?.finish_reason), asObject(body.error));
  },
  openStream: () => new ChatStream(),
};

interface Content {
  response: string;
  reasoning: string | undefined;
  toolCalls: ToolCall[];
}

function readRequest(text: string): LlmRequest {
  const request = asObject(JSON.parse(text));
  const { messages, tools = request.functions, response_format: format } = request;
  const raw = sliceMembers(text);
  const system = textsOf(messages, ['system', 'developer']).join('\n\n');
  const prompt = textsOf(messages, ['user']).at(-1);
  return {
    model: asText(request.model),
    input: {
      ...(system !== '' && { system }),
      ...(prompt !== undefined && { prompt }),
      ...(Array.isArray(tools) && { tools: new JsonText(raw.get('tools') ?? raw.get('functions') ?? '[]') }),
      ...(Array.isArray(messages) && { messages: new JsonText(raw.get('messages') ?? '[]') }),
    },
    isJson: String(asObject(format).type).startsWith('json'),
  };
}

function readMessage(message: Json): Content {
  const calls = asArray(message.tool_calls).map((call) => readCall(asObject(call)));
  const legacy = message.function_call ? [readCall({ function: message.function_call })] : [];
  return {
    response: readText(message) || '',
    reasoning: readReasoning(message),
    toolCalls: [...calls, ...legacy],
  };
}

/** The text of a message or of a delta. */
function readText({ content, refusal, audio }: Json): string | undefined {
  return textOf(content) ?? asText(refusal) ?? asText(asObject(audio).transcript);
}

/** The name in DeepSeek, Qwen and vLLM, or the one in OpenRouter and Groq. */
function readReasoning({ reasoning_content: content, reasoning }: Json): string | undefined {
  return asText(content) ?? asText(reasoning);
}

function readCall(call: Json): ToolCall {
  const { name, arguments: text, input } = asObject(call.function ?? call.custom);
  return { id: asText(call.id), name: asText(name), arguments: asText(text) ?? asText(input) ?? '' };
}

function compose(
  body: Json,
  contents: readonly Content[],
  finishReason: string | undefined,
  error: Json,
): LlmAnswer {
  const [first = { response: '', reasoning: undefined, toolCalls: [] }, ...others] = contents;
  return {
    ...first,
    model: asText(body.model),
    otherResponses: others.length > 0 ? others.map(({ response }) => response) : undefined,
    usage: readUsage(asObject(body.usage)),
    finishReason,
    responseId: asText(body.id),
    error: readStreamError(error),
    isComplete: finishReason !== undefined,
  };
}

function readUsage(usage: Json) {
  const { cached_tokens: cacheRead, cache_write_tokens: cacheWrite } = asObject(usage.prompt_tokens_details);
  return composeUsage({
    input: usage.prompt_tokens,
    cacheRead,
    cacheWrite,
    output: usage.completion_tokens,
    reasoning: asObject(usage.completion_tokens_details).reasoning_tokens,
    total: usage.total_tokens,
  });
}

/** Reads an `error` object that was sent instead of a chunk. */
export function readStreamError({ code, type, message }: Json): EventError | undefined {
  if (code === undefined && type === undefined && message === undefined) return undefined;
  const known = [code, type].find((value) => typeof value === 'string' || typeof value === 'number');
  return {
    ...(known !== undefined && { code: known as string | number }),
    ...(typeof message === 'string' && { message }),
  };
}

/** Collects the deltas of each choice. */
class ChatStream implements StreamReader {
  #head: Json = {};
  #usage: unknown;
  #error: Json = {};
  #isDone = false;
  readonly #choices = new Map<number, StreamedChoice>();

  push({ data }: SseEvent): void {
    if (data === '[DONE]') {
      this.#isDone = true;
      return;
    }
    const chunk = asObject(JSON.parse(data));
    this.#error = asObject(chunk.error ?? this.#error);
    if (this.#head.id === undefined) this.#head = { id: chunk.id, model: chunk.model };
    if (chunk.usage) this.#usage = chunk.usage;
    for (const choice of asArray(chunk.choices)) this.#addChoice(asObject(choice));
  }

  answer(): LlmAnswer {
    const choices = inOrder(this.#choices);
    const contents = choices.map(({ calls, ...texts }) => ({ ...texts, toolCalls: calls.list() }));
    const finished = choices.filter(({ finishReason }) => finishReason !== undefined);
    const answer = compose(
      { ...this.#head, usage: this.#usage },
      contents,
      choices[0]?.finishReason,
      this.#error,
    );
    const isFinished = finished.length > 0 && finished.length === choices.length;
    return { ...answer, isComplete: this.#isDone || isFinished };
  }

  #addChoice({ index, delta, finish_reason: reason }: Json): void {
    const part = asObject(delta);
    const { tool_calls: calls, function_call: legacy } = part;
    const at = asIndex(index);
    const choice = this.#choices.get(at) ?? {
      response: '',
      reasoning: undefined,
      calls: new StreamedCalls(),
      finishReason: undefined,
    };
    this.#choices.set(at, choice);
    choice.response += readText(part) ?? '';
    const reasoning = readReasoning(part);
    if (reasoning !== undefined) choice.reasoning = (choice.reasoning ?? '') + reasoning;
    choice.finishReason = asText(reason) ?? choice.finishReason;
    for (const call of asArray(calls)) choice.calls.add(asObject(call));
    if (legacy) choice.calls.add({ index: 0, function: legacy });
  }
}

interface StreamedChoice {
  response: string;
  reasoning: string | undefined;
  readonly calls: StreamedCalls;
  finishReason: string | undefined;
}

/** Joins the deltas of tool calls. Some providers use the index 0 for all parallel calls: a new id starts a new call. */
class StreamedCalls {
  readonly #byIndex = new Map<number, ToolCall[]>();

  add(delta: Json): void {
    const at = asIndex(delta.index);
    const part = readCall(delta);
    const id = part.id || undefined;
    const calls = this.#byIndex.get(at) ?? [];
    this.#byIndex.set(at, calls);
    let call = calls.at(-1);
    if (call === undefined || (id !== undefined && call.id !== undefined && id !== call.id)) {
      call = { id: undefined, name: undefined, arguments: '' };
      calls.push(call);
    }
    call.id = id ?? call.id;
    call.name = part.name || call.name;
    call.arguments += part.arguments;
  }

  list(): ToolCall[] {
    return inOrder(this.#byIndex).flat();
  }
}
