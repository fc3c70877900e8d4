import type { Json } from '../../read/protobuf-struct.ts';
import { parseEmbeddedJson } from '../spans/exact-json.ts';
import type { AttributeReader, Found } from './attribute-reader.ts';
import { compact, type JsonObject, unlessEmpty } from './json-object.ts';
import type { EventMessages } from './messages/event-messages.ts';
import { type LlmInput, readInput, readInstructions, readTools } from './messages/llm-input.ts';
import { type LlmOutput, readOutput } from './messages/llm-output.ts';
import { isJsonObject, readToolCalls } from './messages/messages.ts';
import { llmRows } from './table.ts';
import { mapUsage } from './usage.ts';

/** Maps an LLM span to `properties.llm` (docs/api.md §2.6), by the rows of the table. */
export function mapLlmPayload(reader: AttributeReader, messages: EventMessages): JsonObject {
  const usage = mapUsage(reader);
  return compact({
    model: reader.text(llmRows.model) ?? findRequestedModel(reader),
    input: mapInput(reader, messages),
    output: mapOutput(reader, messages),
    usage,
    responseId: reader.text(llmRows.responseId),
    timeToFirstChunkMs: mapTimeToFirstChunk(reader),
  });
}

/** OpenInference reads the model's name from the response. Without a response it is in the request's parameters. */
function findRequestedModel(reader: AttributeReader): string | undefined {
  const parameters = parsed(reader.get('llm.invocation_parameters') ?? null);
  const model = isJsonObject(parameters) ? parameters.model : undefined;
  return typeof model === 'string' && model !== '' ? model : undefined;
}

function mapInput(reader: AttributeReader, { input: ofEvents }: EventMessages): JsonObject | undefined {
  const read = takeWhole(reader, reader.find(llmRows.input), readInput) ?? fromEvents(ofEvents, readInput);
  const { system: systemOfMessages, prompt, messages, tools: toolsOfRequest }: Partial<LlmInput> = read ?? {};
  const instructions = reader.find(llmRows.system, (value) => readInstructions(value) !== undefined);
  const system = takeWhole(reader, instructions, readInstructions)?.text ?? systemOfMessages;
  const listed = reader.find(llmRows.tools, (value) => readTools(value) !== undefined);
  if (listed !== undefined) reader.take(listed);
  const tools = listed === undefined ? toolsOfRequest : readTools(listed.value);
  return unlessEmpty(compact({ system, prompt, messages, tools: tools as Json[] | undefined }));
}

function mapOutput(reader: AttributeReader, { output: ofEvents }: EventMessages): JsonObject | undefined {
  const read = takeWhole(reader, reader.find(llmRows.output), readOutput) ?? fromEvents(ofEvents, readOutput);
  const output: Partial<LlmOutput> = read ?? readSeparately(reader);
  const { response, messages } = output;
  const toolCalls = output.toolCalls ?? [];
  const finishReason = takeFinishReason(reader) ?? output.finishReason;
  const sentMode = reader.text(llmRows.mode);
  const inferred = response === undefined ? undefined : output.isJson ? 'json' : 'text';
  return unlessEmpty(
    compact({
      mode: toolCalls.length > 0 ? 'tool_calls' : (sentMode ?? inferred),
      response,
      toolCalls: toolCalls.length > 0 ? toolCalls.map((call) => ({ ...call })) : undefined,
      messages,
      finishReason,
    }),
  );
}

/** Reads a value, and takes its attributes if the result holds all of it. */
function takeWhole<T extends { isWhole: boolean }>(
  reader: AttributeReader,
  found: Found | undefined,
  read: (value: Json) => T | undefined,
): T | undefined {
  const result = found && read(found.value);
  if (found !== undefined && result?.isWhole) reader.take(found);
  return result;
}

function fromEvents<T>(messages: readonly Json[], read: (value: Json) => T): T | undefined {
  return messages.length === 0 ? undefined : read([...messages]);
}

/** Reads text and tool calls from separate attributes, as Vercel sends them. */
function readSeparately(reader: AttributeReader): Partial<LlmOutput> {
  const text = reader.find(llmRows.response, (value) => typeof value === 'string' && value !== '');
  const calls = reader.find(llmRows.toolCalls);
  const toolCalls = calls === undefined ? [] : readToolCalls(parsed(calls.value));
  if (text !== undefined) reader.take(text);
  // The calls' attribute is not taken: it may have more members, such as metadata of the provider.
  return {
    ...(text !== undefined && {
      response: String(text.value),
      isJson: text.names[0] === 'ai.response.object',
    }),
    toolCalls,
  };
}

function takeFinishReason(reader: AttributeReader): string | undefined {
  const found = reader.find(llmRows.finishReason);
  const value = parsed(found?.value ?? null);
  const reasons = Array.isArray(value) ? value : [value];
  const [reason] = reasons;
  if (found === undefined || typeof reason !== 'string') return undefined;
  if (reasons.length === 1) reader.take(found);
  return reason;
}

function mapTimeToFirstChunk(reader: AttributeReader): number | undefined {
  const seconds = reader.number(llmRows.timeToFirstChunkS);
  return seconds === undefined ? reader.number(llmRows.timeToFirstChunkMs) : seconds * 1_000;
}

function parsed(value: Json): Json {
  return typeof value === 'string' ? (parseEmbeddedJson(value) ?? value) : value;
}
