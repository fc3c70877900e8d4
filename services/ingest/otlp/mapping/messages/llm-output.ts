import type { Json } from '../../../read/protobuf-struct.ts';
import { parseEmbeddedJson } from '../../spans/exact-json.ts';
import {
  isJsonObject,
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
  readonly toolCalls: readonly ToolCall[];
  /** The messages as they were sent. */
  readonly messages?: Json;
  readonly finishReason?: string;
  /** Whether the output is JSON that is not a message. */
  readonly isJson?: boolean;
  /** Whether the fields above hold all of the value. */
  readonly isWhole: boolean;
}

/** Reads an output of any convention: messages, a response with messages, or text; as JSON or as JSON text. */
export function readOutput(value: Json): LlmOutput {
  const json = withoutType(typeof value === 'string' ? (parseEmbeddedJson(value) ?? value) : value);
  if (typeof json === 'string' && pythonObject.test(json)) return { toolCalls: [], isWhole: false };
  if (typeof json === 'string') return { response: json, toolCalls: [], isWhole: true };
  const messages = readMessages(json);
  if (messages !== undefined) return { ...summarize(messages, json), messages: json, isWhole: true };
  const inResponse = isJsonObject(json) ? messagesOfResponse(json) : messagesOfChunks(json);
  const read = inResponse === undefined ? undefined : readMessages(inResponse);
  if (inResponse !== undefined && read !== undefined) {
    return { ...summarize(read, inResponse), messages: inResponse, isWhole: false };
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

/** What Python prints for an object without a text of its own: `<anthropic.Stream object at 0x7f04808bfad0>`. */
const pythonObject = /^<[\w.]{1,200} object at 0x[0-9a-f]{1,16}>$/;

/** The messages in a response of OpenAI's chat completions, completions or responses API, of Gemini, LangChain or Haystack. */
function messagesOfResponse(response: { readonly [key: string]: Json }): Json | undefined {
  const { choices, output, generations, candidates, replies } = response;
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

/** The parts of a streamed response of Gemini. */
function messagesOfChunks(json: Json): Json | undefined {
  const chunks = Array.isArray(json) ? json : [];
  const candidates = chunks.map((chunk) => (isJsonObject(chunk) ? chunk.candidates : undefined));
  return candidates.length > 0 && candidates.every(Array.isArray) ? candidates.flat() : undefined;
}

function summarize(messages: readonly Message[], json: Json): Omit<LlmOutput, 'isWhole'> {
  const texts = messages.flatMap(({ texts }) => texts);
  const [first] = Array.isArray(json) ? json : [];
  const finishReason = isJsonObject(first) ? textIn(first, 'finish_reason', 'stop_reason') : undefined;
  return {
    ...(texts.length > 0 && { response: texts.join('') }),
    toolCalls: messages.flatMap(({ toolCalls }) => toolCalls),
    ...(finishReason !== undefined && { finishReason }),
  };
}
