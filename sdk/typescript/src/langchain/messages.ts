import { JsonText, jsonTextOf } from '../event/json-text.ts';
import type { LlmAnswer, LlmRequest, ToolCall } from '../wire/adapter.ts';
import { asArray, asObject, asText, type Json, textOf, textsOf } from '../wire/read.ts';
import { composeUsage } from '../wire/usage.ts';

/** LangChain's names of the roles. */
const roles: Record<string, string> = { human: 'user', ai: 'assistant' };

/** Reads the messages of a chat model, and what is known of its request. */
export function readRequest(messages: readonly unknown[], extra: Json, metadata: Json): LlmRequest {
  const parameters = asObject(extra.invocation_params);
  const plain = messages.map(readMessage);
  const tools = parameters.tools ?? asObject(extra.options).tools;
  const system = textsOf(plain, ['system', 'developer']).join('\n\n');
  const prompt = textsOf(plain, ['user']).at(-1);
  return {
    model: [parameters.model, parameters.model_name, metadata.ls_model_name].find(isText),
    input: {
      ...(system !== '' && { system }),
      ...(prompt !== undefined && { prompt }),
      ...(Array.isArray(tools) && { tools: new JsonText(jsonTextOf(tools) ?? '[]') }),
      messages: new JsonText(jsonTextOf(plain) ?? '[]'),
    },
    isJson: String(asObject(parameters.response_format).type).startsWith('json'),
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function readMessage(message: unknown): Json {
  const { content, name, tool_calls: toolCalls, tool_call_id: toolCallId } = asObject(message);
  const type = typeOf(message);
  return {
    role: roles[type] ?? type,
    content,
    ...(name !== undefined && { name }),
    ...(asArray(toolCalls).length > 0 && { tool_calls: toolCalls }),
    ...(toolCallId !== undefined && { tool_call_id: toolCallId }),
  };
}

/** The type of a message: from a method or a property, depending on the version of LangChain. */
function typeOf(message: unknown): string {
  const { getType, _getType: oldGetType, type, role } = asObject(message);
  for (const method of [getType, oldGetType]) {
    if (typeof method === 'function') return String(method.call(message));
  }
  return String(type ?? role ?? 'user');
}

/** Reads the result of a model: the first of its generations for a prompt, and the texts of the others. */
export function readAnswer(output: unknown): LlmAnswer {
  const { generations, llmOutput } = asObject(output);
  const [first, ...others] = asArray(asArray(generations)[0]).map(asObject);
  const message = asObject(first?.message);
  const metadata = { ...asObject(first?.generationInfo), ...asObject(message.response_metadata) };
  const { model_name: name, model, finish_reason: finish, stop_reason: stop } = metadata;
  return {
    model: [name, model].find(isText),
    response: textOf(message.content) ?? asText(first?.text) ?? '',
    reasoning: readReasoning(message),
    toolCalls: readCalls(message),
    otherResponses: others.length > 0 ? others.map(({ text }) => asText(text) ?? '') : undefined,
    usage: readUsage(asObject(message.usage_metadata), asObject(asObject(llmOutput).tokenUsage)),
    finishReason: [finish, stop, metadata.done_reason, metadata.finishReason].find(isText),
    responseId: [metadata.id, message.id].find(isText),
    isComplete: true,
  };
}

function readReasoning({ additional_kwargs: others, content }: Json): string | undefined {
  const parts = asArray(content).flatMap((part) => {
    const { thinking, reasoning } = asObject(part);
    return asText(thinking) ?? asText(reasoning) ?? [];
  });
  return asText(asObject(others).reasoning_content) ?? (parts.join('') || undefined);
}

/**
 * The calls with the model's JSON text, if the message still has it: LangChain parses it, which rounds 64-bit
 * integers.
 */
function readCalls(message: Json): ToolCall[] {
  const texts = new Map<unknown, string>();
  for (const call of asArray(asObject(message.additional_kwargs).tool_calls).map(asObject)) {
    const text = asText(asObject(call.function).arguments);
    if (text !== undefined) texts.set(call.id, text);
  }
  for (const chunk of asArray(message.tool_call_chunks).map(asObject)) {
    const text = asText(chunk.args);
    if (text !== undefined && chunk.id !== undefined) texts.set(chunk.id, text);
  }
  return asArray(message.tool_calls)
    .concat(asArray(message.invalid_tool_calls))
    .map(asObject)
    .map(({ id, name, args }) => ({
      id: asText(id),
      name: asText(name),
      arguments: texts.get(id) ?? asText(args) ?? jsonTextOf(args ?? {}) ?? '{}',
    }));
}

/** Reads the token counts of a message; older versions report them for the whole result. */
function readUsage(usage: Json, old: Json) {
  const details = asObject(usage.input_token_details);
  const outputDetails = asObject(usage.output_token_details);
  // LangChain empties the count of all writes when it has those of each life.
  const hour = Number(details.ephemeral_1h_input_tokens) || 0;
  const lives = hour + (Number(details.ephemeral_5m_input_tokens) || 0);
  return composeUsage({
    input: usage.input_tokens ?? old.promptTokens,
    cacheRead: details.cache_read,
    cacheWrite: lives > 0 ? lives : details.cache_creation,
    output: usage.output_tokens ?? old.completionTokens,
    reasoning: outputDetails.reasoning,
    total: usage.total_tokens ?? old.totalTokens,
    inputParts: {
      cacheWriteHourTokens: hour,
      audioTokens: details.audio,
      imageTokens: details.image,
    },
    outputParts: { audioTokens: outputDetails.audio, imageTokens: outputDetails.image },
  });
}
