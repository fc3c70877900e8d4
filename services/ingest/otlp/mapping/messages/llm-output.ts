import { parseEmbeddedJson } from '../../../../../event/json/embedded-json.ts';
import { isJsonObject, type Json } from '../../../../../event/json/json-value.ts';
import { unquoted } from '../attribute-reader.ts';
import {
  asMessage,
  type Message,
  readMessage,
  readMessages,
  type ToolCall,
  textIn,
  withoutType,
} from './messages.ts';

/** The output of a model call. */
export interface LlmOutput {
  readonly response?: string;
  /** The texts of further choices. */
  readonly otherResponses?: readonly string[];
  readonly reasoning?: string;
  readonly toolCalls: readonly ToolCall[];
  /** The messages as they were sent. */
  readonly messages?: Json;
  readonly finishReason?: string;
  /** Whether the output is JSON that is not a message. */
  readonly isJson?: boolean;
  /** Whether the fields above hold all of the value. */
  readonly isWhole: boolean;
}

/**
 * Reads an output of any convention: messages, a response with messages, or text; as JSON or as JSON text.
 */
export function readOutput(value: Json): LlmOutput {
  const json = withoutType(typeof value === 'string' ? (parseEmbeddedJson(unquoted(value)) ?? value) : value);
  if (typeof json === 'string' && pythonObject.test(json)) return { toolCalls: [], isWhole: false };
  if (typeof json === 'string') return { response: json, toolCalls: [], isWhole: true };
  const messages = readMessages(json);
  if (messages !== undefined) return { ...summarize(messages, json), messages: json, isWhole: true };
  const isStream = !isJsonObject(json);
  const inResponse = isStream ? messagesOfChunks(json) : messagesOfResponse(json);
  const read = inResponse === undefined ? undefined : readMessages(inResponse);
  if (inResponse !== undefined && read !== undefined) {
    return { ...summarize(read, inResponse, !isStream), messages: inResponse, isWhole: false };
  }
  const message = readMessage(json);
  if (message !== undefined) {
    return { ...summarize([message], [json]), messages: [json], isWhole: true };
  }
  // LangSmith sends `{"output":null}` for a call that failed.
  if (json === null || (isJsonObject(json) && json.output === null && Object.keys(json).length === 1))
    return { toolCalls: [], isWhole: true };
  const response = typeof value === 'string' ? value : JSON.stringify(json);
  return { response, toolCalls: [], isJson: true, isWhole: true };
}

/**
 * What Python prints for an object without a text of its own: `<anthropic.Stream object at 0x7f04808bfad0>`.
 */
const pythonObject = /^<[\w.]{1,200} object at 0x[0-9a-f]{1,16}>$/;

/**
 * The messages in a response of OpenAI's chat completions, completions or responses API, of Gemini, LangChain
 * or Haystack.
 */
function messagesOfResponse(response: { readonly [key: string]: Json }): Json | undefined {
  const { choices, output, generations, candidates, replies, result, success } = response;
  if (isJsonObject(result) && typeof success === 'boolean') return messagesOfWorkersAi(result);
  if (Array.isArray(candidates)) return candidates;
  if (Array.isArray(replies)) return replies;
  if (Array.isArray(generations))
    return generations
      .flat()
      .map((generation) =>
        isJsonObject(generation) ? (generation.message ?? generation.text ?? generation) : generation,
      );
  if (!Array.isArray(choices)) return Array.isArray(output) ? output : undefined;
  return choices.map((choice) =>
    isJsonObject(choice) && choice.message !== undefined ? choice.message : choice,
  );
}

/** Cloudflare puts a response in an envelope: `{ result: { response, tool_calls }, success }`. */
function messagesOfWorkersAi(result: { readonly [key: string]: Json }): Json | undefined {
  const { response: content = null, tool_calls: calls = [] } = result;
  const isOwn = content === null || typeof content === 'string';
  return (
    messagesOfResponse(result) ?? (isOwn ? [{ role: 'assistant', content, tool_calls: calls }] : undefined)
  );
}

/** The parts of a streamed response of Gemini. */
function messagesOfChunks(json: Json): Json | undefined {
  const chunks = Array.isArray(json) ? json : [];
  const candidates = chunks.map((chunk) => (isJsonObject(chunk) ? chunk.candidates : undefined));
  return candidates.length > 0 && candidates.every(Array.isArray) ? candidates.flat() : undefined;
}

/** Each reason once: choices may end for different ones. */
export function joinReasons(reasons: readonly string[]): string | undefined {
  return reasons.length === 0 ? undefined : [...new Set(reasons)].join(', ');
}

/**
 * @param areChoices whether several messages are choices, each with a text of its own, and not parts of one
 * text.
 */
function summarize(messages: readonly Message[], json: Json, areChoices = true): Omit<LlmOutput, 'isWhole'> {
  const texts = messages.flatMap((message) => (message.texts.length > 0 ? message.texts.join('') : []));
  const reasoning = messages.flatMap((message) => message.reasoning);
  const reasons = (Array.isArray(json) ? json : [])
    .map(asMessage)
    .flatMap((message) =>
      isJsonObject(message) ? (textIn(message, 'finish_reason', 'stop_reason') ?? []) : [],
    );
  const finishReason = joinReasons(reasons);
  return {
    ...(texts.length > 0 && (areChoices ? { response: texts[0] } : { response: texts.join('') })),
    ...(areChoices && texts.length > 1 && { otherResponses: texts.slice(1) }),
    ...(reasoning.length > 0 && { reasoning: reasoning.join('\n') }),
    toolCalls: messages.flatMap(({ toolCalls }) => toolCalls),
    ...(finishReason !== undefined && { finishReason }),
  };
}
