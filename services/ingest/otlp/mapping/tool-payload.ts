import { parseIfJson } from '../../../../event/json/embedded-json.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../../event/json/json-value.ts';
import type { SpanEvent } from '../spans/span.ts';
import type { AttributeReader } from './attribute-reader.ts';
import { compact, objectIn } from './json-object.ts';
import { textIn, withoutType } from './messages/messages.ts';
import type { CompiledRow } from './rows.ts';
import { toolRows } from './table.ts';

/** A value of a tool call without the wrapping of its framework. */
interface Unwrapped {
  readonly value: Json;
  readonly callId?: string | undefined;
  readonly name?: string | undefined;
}

/**
 * Maps a tool span to `properties.tool` (docs/api.md §2.7), by the rows of the table. Input and output in
 * JSON text are stored as JSON.
 */
export function mapToolPayload(
  reader: AttributeReader,
  spanName: string,
  events: readonly SpanEvent[],
): JsonObject {
  const input = takeValue(reader, toolRows.input, unwrapInput);
  const output = takeValue(reader, toolRows.output, unwrapOutput);
  const named = reader.text(toolRows.name);
  return compact({
    // OpenLLMetry for LangChain's JavaScript sends the class of the tool.
    name: output?.name ?? named ?? spanName,
    callId: reader.text(toolRows.callId) ?? output?.callId,
    input: input?.value ?? valueOfEvent(events, 'gen_ai.tool.message', 'content'),
    output:
      output?.value ??
      valueOfEvent(events, 'gen_ai.choice', 'message') ??
      valueOfEvent(events, 'tool.output', 'output'),
  });
}

/** Strands sends the arguments and the result of a tool as events of its span, Claude Code the result. */
function valueOfEvent(events: readonly SpanEvent[], event: string, attribute: string): Json | undefined {
  const value = events.find(({ name }) => name === event)?.attributes.get(attribute);
  return value === undefined ? undefined : parseIfJson(value);
}

/** An attribute that holds more than the value stays in the event's other attributes. */
function takeValue(
  reader: AttributeReader,
  row: CompiledRow,
  unwrap: (json: Json) => Unwrapped | undefined,
): Unwrapped | undefined {
  const found = reader.find(row);
  if (found === undefined) return undefined;
  const json = withoutType(parseIfJson(found.value));
  const unwrapped = unwrap(json);
  if (unwrapped === undefined) reader.take(found);
  return unwrapped ?? { value: json };
}

/**
 * The arguments in a call of a Python function (`{ args: [], kwargs }`: smolagents, LlamaIndex) or of a tool
 * of LangChain (`inputs`; in JavaScript `{ args: [text] }`), or of one over MCP (`{ tool_name, arguments }`:
 * OpenLLMetry).
 */
function unwrapInput(json: Json): Unwrapped | undefined {
  if (!isJsonObject(json)) return undefined;
  const { args, kwargs, inputs } = json;
  const isNamed = Object.keys(json).length === 2 && typeof json.tool_name === 'string';
  if (isNamed && json.arguments !== undefined) return { value: json.arguments };
  const only =
    Object.keys(json).length === 1 && Array.isArray(args) && args.length === 1 ? args[0] : undefined;
  const given = typeof only === 'string' ? objectIn(only) : undefined;
  if (given !== undefined) return { value: given };
  if (json.input_str !== undefined && isJsonObject(inputs)) return { value: inputs };
  const hasArgs = args !== undefined && !(Array.isArray(args) && args.length === 0);
  return !hasArgs && isJsonObject(kwargs) ? { value: kwargs } : undefined;
}

/**
 * The result in a tool message of LangChain, in any of its serialized forms, or in a tool output of
 * LlamaIndex.
 */
function unwrapOutput(json: Json): Unwrapped | undefined {
  if (!isJsonObject(json)) return undefined;
  if (json.raw_output !== undefined && json.tool_name !== undefined)
    return { value: parseIfJson(json.raw_output) };
  const inner = json.lc === undefined ? (json.type === 'tool' ? json.data : json.output) : json.kwargs;
  if (isJsonObject(inner)) return unwrapOutput(inner);
  const callId = textIn(json, 'tool_call_id');
  return callId !== undefined && json.content !== undefined
    ? { value: parseIfJson(json.content), callId, name: textIn(json, 'name') || undefined }
    : undefined;
}
