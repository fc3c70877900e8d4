import { dropUndefined } from '../event/drop-undefined.ts';
import { asCode } from '../event/error-details.ts';
import type { EventError } from '../event/event.ts';
import type { Adapter, LlmAnswer, StreamReader, ToolCall } from '../wire/adapter.ts';
import { asArray, asIndex, asObject, asText, inOrder, type Json, textOf, textsOf } from '../wire/read.ts';
import { composeRequest, type RequestParts } from '../wire/request.ts';
import { readOpenAIUsage } from '../wire/usage.ts';

/** OpenAI's Chat Completions API, which many providers implement. */
export const chatCompletions: Adapter = {
  source: 'openai',
  sourcePackage: 'openai',
  sourceFunction: 'chat.completions.create',
  path: /\/chat\/completions$/,
  hasUsageOption: true,
  readRequest: (text) => composeRequest(text, readParts),
  readAnswer: (text) => {
    const body = asObject(JSON.parse(text));
    const choices = asArray(body.choices).map(asObject);
    const contents = choices.map(({ message }) => readMessage(asObject(message)));
    return compose(body, contents, asText(choices[0]?.finish_reason));
  },
  openStream: () => new ChatStream(),
};

interface Content {
  response: string;
  reasoning: string | undefined;
  toolCalls: ToolCall[];
}

function readParts({ messages, prompt, response_format: format }: Json): RequestParts {
  return {
    system: textsOf(messages, ['system', 'developer']).join('\n\n'),
    // Mistral's API for code completion has a prompt instead of messages.
    prompt: textsOf(messages, ['user']).at(-1) ?? asText(prompt),
    tools: ['tools', 'functions'],
    messages: 'messages',
    format,
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

/** The name in DeepSeek, Qwen and vLLM, the one in OpenRouter and Groq, or the parts of Mistral. */
function readReasoning({ reasoning_content: text, reasoning, content }: Json): string | undefined {
  const thoughts = asArray(content).flatMap((part) => textOf(asObject(part).thinking) ?? []);
  return asText(text) ?? asText(reasoning) ?? (thoughts.join('') || undefined);
}

function readCall(call: Json): ToolCall {
  const { name, arguments: text, input } = asObject(call.function ?? call.custom);
  // Compatible providers may send the arguments as an object.
  const given = text ?? input ?? '';
  return { id: asText(call.id), name: asText(name), arguments: asText(given) ?? JSON.stringify(given) };
}

function compose(body: Json, contents: readonly Content[], finishReason: string | undefined): LlmAnswer {
  const [first = { response: '', reasoning: undefined, toolCalls: [] }, ...others] = contents;
  return {
    ...first,
    model: asText(body.model),
    otherResponses: others.length > 0 ? others.map(({ response }) => response) : undefined,
    usage: readOpenAIUsage(asObject(body.usage), 'prompt_tokens', 'completion_tokens'),
    finishReason,
    serviceTier: asText(body.service_tier),
    // OpenRouter says what a call cost.
    cost: asObject(body.usage).cost,
    responseId: asText(body.id),
    error: readStreamError(asObject(body.error)),
    isComplete: finishReason !== undefined,
  };
}

/** Reads an `error` object that was sent instead of a chunk. */
export function readStreamError({ code, type, message }: Json): EventError | undefined {
  const known = asCode(code) ?? asCode(type);
  if (known === undefined && typeof message !== 'string') return undefined;
  return dropUndefined({ code: known, message: asText(message) });
}

/** Collects the deltas of each choice. */
class ChatStream implements StreamReader {
  #head: Json = {};
  #usage: unknown;
  #error: Json = {};
  #isDone = false;
  readonly #choices = new Map<number, StreamedChoice>();

  push(data: string): void {
    if (data === '[DONE]') {
      this.#isDone = true;
      return;
    }
    const chunk = asObject(JSON.parse(data));
    this.#error = asObject(chunk.error ?? this.#error);
    if (this.#head.id === undefined) this.#head = { id: chunk.id, model: chunk.model };
    if (chunk.usage) this.#usage = chunk.usage;
    if (chunk.service_tier) this.#head = { ...this.#head, service_tier: chunk.service_tier };
    for (const choice of asArray(chunk.choices)) this.#addChoice(asObject(choice));
  }

  answer(): LlmAnswer {
    const choices = inOrder(this.#choices);
    const contents = choices.map(({ calls, ...texts }) => ({ ...texts, toolCalls: calls.list() }));
    const finished = choices.filter(({ finishReason }) => finishReason !== undefined);
    const body = { ...this.#head, usage: this.#usage, error: this.#error };
    const answer = compose(body, contents, choices[0]?.finishReason);
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

/**
 * Joins the deltas of tool calls. Some providers use the index 0 for all parallel calls: a new id starts a
 * new call.
 */
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
