import { parseIfJson } from '../../../../event/json/embedded-json.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../../event/json/json-value.ts';
import type { Span, SpanEvent } from '../spans/span.ts';
import { type AttributeReader, type Found, unquoted } from './attribute-reader.ts';
import { compact, objectIn, unlessEmpty } from './json-object.ts';
import type { EventMessages } from './messages/event-messages.ts';
import { spellReason, spellReasons } from './messages/finish-reason.ts';
import { type LlmInput, readInput, readInstructions, readTools } from './messages/llm-input.ts';
import { joinReasons, type LlmOutput, readOutput } from './messages/llm-output.ts';
import { readToolCalls, type ToolCall } from './messages/messages.ts';
import { type RawResponse, readRawResponse } from './messages/raw-response.ts';
import type { CompiledRow } from './rows.ts';
import { llmRows } from './table.ts';
import { mapPriceConditions } from './usage/price-conditions.ts';
import { mapUsage } from './usage/usage.ts';

/** Maps an LLM span to `properties.llm` (docs/api.md §2.6), by the rows of the table. */
export function mapLlmPayload(
  reader: AttributeReader,
  messages: Omit<EventMessages, 'taken'>,
  times: CallTimes,
): JsonObject {
  const raw = readRawResponse(reader.get('output.value') ?? reader.find(llmRows.output)?.value);
  const usage = mapUsage(reader, raw.usage);
  return compact({
    model: readModel(reader) ?? findRequestedModel(reader) ?? raw.model,
    input: mapInput(reader, messages),
    output: mapOutput(reader, messages, raw),
    usage,
    ...mapPriceConditions(reader, raw),
    responseId: reader.text(llmRows.responseId) ?? raw.id,
    timeToFirstChunkMs: mapTimeToFirstChunk(reader, times),
  });
}

/** Spring AI says `none` for the model of a response that there was not. */
function readModel(reader: AttributeReader): string | undefined {
  const found = reader.find(
    llmRows.model,
    (value) => typeof value === 'string' && value !== '' && value !== 'none',
  );
  if (found === undefined) return reader.text(llmRows.model);
  reader.take(found);
  return unquoted(String(found.value));
}

/**
 * OpenInference reads the model's name from the response. Without a response it is in the request's
 * parameters.
 */
function findRequestedModel(reader: AttributeReader): string | undefined {
  const model = objectIn(reader.get('llm.invocation_parameters'))?.model;
  return typeof model === 'string' && model !== '' ? model : undefined;
}

function mapInput(
  reader: AttributeReader,
  { input: ofEvents }: Pick<EventMessages, 'input'>,
): JsonObject | undefined {
  const read =
    takeBest(reader, llmRows.input, { read: readInput, countMissing: countMissingInput }) ??
    fromEvents(ofEvents, readInput);
  const { system: systemOfMessages, prompt, messages, tools: toolsOfRequest }: Partial<LlmInput> = read ?? {};
  const instructions = reader.findRead(llmRows.system, readInstructions);
  if (instructions?.read.isWhole) reader.take(instructions);
  const system = instructions?.read.text ?? systemOfMessages ?? findSystemOfRequest(reader);
  const listed = reader.findRead(llmRows.tools, readTools);
  if (listed !== undefined) reader.take(listed);
  const tools = listed?.read ?? toolsOfRequest;
  return unlessEmpty(compact({ system, prompt, messages, tools: tools as Json[] | undefined }));
}

/**
 * OpenInference for Anthropic's JavaScript client has the system prompt in the request only. A search is
 * cheaper than parsing each request.
 */
function findSystemOfRequest(reader: AttributeReader): string | undefined {
  const request = reader.get('input.value');
  const isPossible =
    typeof request === 'string' && /"(?:system|instructions|system_instruction)"\s*:/.test(request);
  return isPossible ? readInput(request).system : undefined;
}

function mapOutput(
  reader: AttributeReader,
  { output: ofEvents }: Pick<EventMessages, 'output'>,
  raw: RawResponse,
): JsonObject | undefined {
  const read =
    takeBest(reader, llmRows.output, { read: readOutput, countMissing: countMissingOutput }) ??
    fromEvents(ofEvents, readOutput);
  const output: Partial<LlmOutput> = read ?? readSeparately(reader);
  const { response, messages } = output;
  const finishReason = spellReasons(takeFinishReason(reader) ?? output.finishReason ?? raw.finishReason);
  const toolCalls = output.toolCalls?.length ? output.toolCalls : findToolCalls(reader, finishReason);
  const sentMode = reader.text(llmRows.mode);
  const inferred = response === undefined ? undefined : output.isJson ? 'json' : 'text';
  return unlessEmpty(
    compact({
      mode: toolCalls.length > 0 ? 'tool_calls' : (sentMode ?? inferred),
      response,
      otherResponses: output.otherResponses && [...output.otherResponses],
      reasoning: output.reasoning ?? reader.text(llmRows.reasoning),
      toolCalls: toolCalls.length > 0 ? toolCalls.map((call) => ({ ...call })) : undefined,
      messages,
      finishReason,
    }),
  );
}

/** LiteLLM has the text of a response in one attribute, and its tool calls in another. */
function findToolCalls(reader: AttributeReader, finishReason: string | undefined): readonly ToolCall[] {
  if (!finishReason?.startsWith('tool')) return [];
  for (const { value } of reader.findAll(llmRows.output)) {
    const { toolCalls } = readOutput(value);
    if (toolCalls.length > 0) return toolCalls;
  }
  return [];
}

/**
 * Reads the first value of a field that lacks nothing, or the one that lacks least. Senders repeat content in
 * several attributes.
 */
function takeBest<T extends { isWhole: boolean }>(
  reader: AttributeReader,
  row: CompiledRow,
  { read, countMissing }: { read: (value: Json) => T; countMissing: (result: T, first: T) => number },
): T | undefined {
  let best: { found: Found; result: T; missing: number } | undefined;
  for (const found of reader.findAll(row)) {
    const result = read(found.value);
    const missing = countMissing(result, best?.result ?? result);
    if (best === undefined || missing < best.missing) best = { found, result, missing };
    if (best.missing === 0) break;
  }
  if (best?.result.isWhole) reader.take(best.found);
  return best?.result;
}

/**
 * Counts the messages without content. A value with fewer messages is never better: it may be the last of
 * them only.
 */
function countMissingInput(input: LlmInput, best: LlmInput): number {
  return countMessages(input) < countMessages(best) ? Number.POSITIVE_INFINITY : input.emptyCount;
}

/** A text in the place of a message is what Python prints for an object: it counts as none. */
function countMessages({ messages }: LlmInput): number {
  return Array.isArray(messages) ? messages.flat().filter(isJsonObject).length : 0;
}

/**
 * Counts the tool calls without an id. A value with fewer tool calls is never better: it may be the text
 * only, or a response in another form.
 */
function countMissingOutput({ response, toolCalls }: LlmOutput, best: LlmOutput): number {
  const isEmpty = response === undefined && toolCalls.length === 0;
  if (isEmpty || toolCalls.length < best.toolCalls.length) return Number.POSITIVE_INFINITY;
  return toolCalls.filter(({ id }) => id === undefined).length;
}

function fromEvents<T>(messages: readonly Json[], read: (value: Json) => T): T | undefined {
  return messages.length === 0 ? undefined : read([...messages]);
}

/** Reads text and tool calls from separate attributes, as Vercel and Sentry send them. */
function readSeparately(reader: AttributeReader): Partial<LlmOutput> {
  const text = reader.find(llmRows.response, (value) => typeof value === 'string' && value !== '');
  const calls = reader.find(llmRows.toolCalls);
  const toolCalls = calls === undefined ? [] : readToolCalls(parseIfJson(calls.value));
  if (text !== undefined) reader.take(text);
  const isListed = text?.names[0] === 'gen_ai.response.text';
  const response = isListed ? textOfList(text?.value) : text === undefined ? undefined : String(text.value);
  // The calls' attribute is not taken: it may have more members, such as metadata of the provider.
  return {
    ...(response !== undefined && { response, isJson: text?.names[0] === 'ai.response.object' }),
    toolCalls,
  };
}

/** Sentry sends the texts of a response as a list in JSON. */
function textOfList(value: Json | undefined): string | undefined {
  const json = parseIfJson(value ?? null);
  const isList = Array.isArray(json) && json.every((text) => typeof text === 'string');
  const text = isList ? json.join('') : value;
  return typeof text === 'string' && text !== '' ? text : undefined;
}

function takeFinishReason(reader: AttributeReader): string | undefined {
  const found = reader.find(llmRows.finishReason);
  const value = parseIfJson(found?.value ?? null);
  const reasons = Array.isArray(value) ? value : [value];
  const reason = typeof reasons[0] === 'string' ? unquoted(reasons[0]) : undefined;
  if (found === undefined || reason === undefined) return undefined;
  const texts = reasons.flatMap((one) => (typeof one === 'string' ? unquoted(one) : []));
  // In another spelling it stays under `otel` as it was sent.
  if (texts.length === reasons.length && texts.every((text) => spellReason(text) === text))
    reader.take(found);
  return joinReasons(texts);
}

interface CallTimes {
  readonly span: Pick<Span, 'startNs'>;
  readonly events: readonly SpanEvent[];
}

/** OpenInference's name of the event at the first token of a stream. */
const firstTokenEvent = 'First Token Stream Event';

/** Senders have the duration in seconds or milliseconds, the time of the first token, or an event at it. */
function mapTimeToFirstChunk(reader: AttributeReader, { span, events }: CallTimes): number | undefined {
  const seconds = reader.number(llmRows.timeToFirstChunkS);
  const ms = seconds === undefined ? reader.number(llmRows.timeToFirstChunkMs) : seconds * 1_000;
  if (ms !== undefined) return ms;
  const event = events.find(({ name }) => name === firstTokenEvent);
  const startedAt = reader.find(llmRows.completionStartTime)?.value;
  const sinceStart =
    event === undefined
      ? Date.parse(unquoted(String(startedAt ?? ''))) - Number(span.startNs) / 1e6
      : Number(event.timeNs - span.startNs) / 1e6;
  // NaN without a time. A time before the start is of another clock.
  return sinceStart >= 0 ? sinceStart : undefined;
}
