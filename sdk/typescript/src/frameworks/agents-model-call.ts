import { chatCompletions } from '../adapters/chat.ts';
import { responses } from '../adapters/responses.ts';
import type { LlmAnswer, LlmRequest, ToolCall } from '../wire/adapter.ts';
import { asArray, asObject, asText, type Json, textsOf } from '../wire/read.ts';
import { composeUsage } from '../wire/usage.ts';

export interface ModelCall {
  sourceFunction: string;
  request: LlmRequest | undefined;
  answer: LlmAnswer | undefined;
}

/** Reads a span of type `response` (OpenAI's Responses API) or `generation` (any other model). */
export function readModelCall(data: Json): ModelCall {
  return data.type === 'response' ? readResponse(data) : readGeneration(data);
}

/** The response repeats the instructions and tools of its request. */
function readResponse({ _input: input, _response: response }: Json): ModelCall {
  const { model, instructions, tools, text } = asObject(response);
  const request = JSON.stringify({ model, instructions, tools, text, input });
  return {
    sourceFunction: responses.sourceFunction,
    request: readSafely(() => responses.readRequest(request, placeholder)),
    answer: response ? readSafely(() => responses.readAnswer(JSON.stringify(response))) : undefined,
  };
}

function readGeneration({ input, output, model, usage }: Json): ModelCall {
  const request = JSON.stringify({ model, messages: input });
  const [first] = asArray(output);
  const isCompletion = Array.isArray(asObject(first).choices);
  const readAnswer = () =>
    isCompletion
      ? chatCompletions.readAnswer(JSON.stringify(first))
      : readItems(asArray(output), asObject(usage));
  return {
    sourceFunction: isCompletion ? chatCompletions.sourceFunction : 'getResponse',
    request: readSafely(() => chatCompletions.readRequest(request, placeholder)),
    answer: output ? readSafely(readAnswer) : undefined,
  };
}

/** The output of other models: messages and tool calls in the form of the Agents SDK. */
function readItems(items: readonly unknown[], usage: Json): LlmAnswer {
  return {
    response: textsOf(items, ['assistant']).join(''),
    toolCalls: items.map(asObject).flatMap(readCall),
    usage: composeUsage({ input: usage.input_tokens, output: usage.output_tokens }),
    isComplete: true,
  };
}

function readCall({ type, callId, id, name, arguments: args }: Json): ToolCall[] {
  if (type !== 'function_call') return [];
  return [{ id: asText(callId) ?? asText(id), name: asText(name), arguments: asText(args) ?? '' }];
}

/** The readers of these APIs do not use the address. */
const placeholder = new URL('weir:');

function readSafely<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
