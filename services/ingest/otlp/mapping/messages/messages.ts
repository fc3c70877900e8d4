import { parseEmbeddedJson } from '../../../../../event/json/embedded-json.ts';
import { isJsonObject, type Json } from '../../../../../event/json/json-value.ts';
import { unquoted } from '../attribute-reader.ts';

/**
 * Reads messages of any convention. The conventions differ only in names:
 *
 *   GenAI          { role, parts: [{ type: 'text', content }, { type: 'tool_call', id, name, arguments }] }
 *   OpenAI         { role, content: text | [{ type: 'text', text }],
 *                    tool_calls: [{ id, function: { name, arguments } }] }
 *   OpenAI items   { type: 'function_call', call_id, name, arguments }
 *   Anthropic      { role, content: text | [{ type: 'text', text }, { type: 'tool_use', id, name, input }] }
 *   Vercel         { role, content: text | [{ type: 'text', text },
 *                    { type: 'tool-call', toolCallId, toolName, input }] }
 *   OpenInference  { message: { role, content, contents: [{ message_content: { type, text } }],
 *                    tool_calls: [{ tool_call: { id, function: { name, arguments } } }] } }
 *   OpenLLMetry    { role, content, tool_calls: [{ id, name, arguments }] }
 *   Bedrock        { role, content: [{ text }, { toolUse: { toolUseId, name, input } }] }
 *   Genkit         { role, content: [{ text }, { toolRequest: { ref, name, input } }] }
 *   Gemini         { role, parts: [{ text }, { functionCall: { name, args } }] }, or a candidate's `content`
 *   LangChain      { lc: 1, id: [ …, 'HumanMessage'], kwargs: { content, tool_calls: [{ id, name, args }] } }
 */

export interface Message {
  /** Empty when the message has none. */
  readonly role: string;
  readonly texts: readonly string[];
  /** What the model wrote before its answer. */
  readonly reasoning: readonly string[];
  readonly toolCalls: readonly ToolCall[];
}

/** A tool call in a model's output. `arguments` is JSON text. */
export interface ToolCall {
  readonly id?: string;
  readonly name?: string;
  readonly arguments?: string;
}

type JsonObject = { readonly [key: string]: Json };

/** @returns undefined for JSON that is not a message of a known form. */
export function readMessage(json: Json): Message | undefined {
  if (typeof json === 'string') return { role: '', texts: [json], reasoning: [], toolCalls: [] };
  if (!isJsonObject(json)) return undefined;
  if (isJsonObject(json.kwargs) && Array.isArray(json.id)) return readLangChain(json.id, json.kwargs);
  const wrapped = json.message ?? json.prompt ?? json.completion;
  if (isJsonObject(wrapped)) return readMessage(wrapped);
  if (isJsonObject(json.content) && Array.isArray(json.content.parts)) return readMessage(json.content);
  const role = textIn(json, 'role') ?? '';
  const call = readToolCall(json);
  if (call !== undefined) return { role, texts: [], reasoning: [], toolCalls: [call] };
  // Where both are sent, `content` repeats the text of `contents`.
  const contents = [json.parts, json.contents ?? json.content, json.text, json.refusal].filter(
    (part) => part !== undefined,
  );
  const listed = json.tool_calls ?? json.toolCalls;
  if (contents.length === 0 && role === '' && listed === undefined) return undefined;
  const parts = contents.flatMap(partsOf);
  const calls = Array.isArray(listed) ? listed : isJsonObject(json.function_call) ? [json.function_call] : [];
  return {
    role,
    texts: parts.flatMap(textsOfPart),
    reasoning: [...reasoningIn(json), ...parts.flatMap(reasoningOfPart)],
    toolCalls: distinct([...parts, ...calls].flatMap((part) => readToolCall(part) ?? [])),
  };
}

const langChainRoles: Readonly<Record<string, string>> = {
  HumanMessage: 'user',
  AIMessage: 'assistant',
  AIMessageChunk: 'assistant',
  SystemMessage: 'system',
  ToolMessage: 'tool',
};

/** A message that LangChain serialized. Its class name determines the role. */
function readLangChain(path: readonly Json[], kwargs: JsonObject): Message | undefined {
  const role = langChainRoles[String(path.at(-1))];
  return role === undefined ? undefined : readMessage({ role, content: '', ...kwargs });
}

/**
 * Reads a list whose elements are all messages. LangChain sends such a list inside another list, which must
 * have no other element.
 */
export function readMessages(json: Json): readonly Message[] | undefined {
  if (!Array.isArray(json) || json.length === 0) return undefined;
  if (json.length === 1 && Array.isArray(json[0])) return readMessages(json[0]);
  const messages = json.map((one) => readMessage(asMessage(one)));
  return messages.every((message) => message !== undefined) ? messages : undefined;
}

/** Some senders write each message of a list as JSON text. */
export function asMessage(json: Json): Json {
  const isJson = typeof json === 'string' && /^\s*\{\s*"(?:role|parts|content)"/.test(json);
  return isJson ? (parseEmbeddedJson(json) ?? json) : json;
}

export function readToolCalls(json: Json): ToolCall[] {
  return Array.isArray(json) ? json.flatMap((element) => readToolCall(element) ?? []) : [];
}

/** LangWatch names the type of each value: `{ type: 'chat_messages', value: […] }`. */
export function withoutType(json: Json): Json {
  const isTyped = isJsonObject(json) && Object.keys(json).length === 2 && valueTypes.has(json.type);
  return isTyped ? (json.value ?? json) : json;
}

const valueTypes = new Set<unknown>(['chat_messages', 'text', 'json', 'list', 'raw']);

export function textIn(members: JsonObject, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = members[name];
    if (typeof value === 'string') return value;
  }
  return undefined;
}

/** OpenLLMetry sends content of several parts as JSON text. */
function partsOf(content: Json): readonly Json[] {
  if (Array.isArray(content)) return content;
  const isJson = typeof content === 'string' && /^\[\s*\{\s*"type"/.test(content);
  const parsed = isJson ? parseEmbeddedJson(content) : undefined;
  return Array.isArray(parsed) && parsed.every(isTyped) ? parsed : [content];
}

const partTypes = new Set<unknown>(['text', 'image', 'image_url', 'input_audio', 'tool_use', 'tool_result']);

function isTyped(part: Json): boolean {
  return isJsonObject(part) && partTypes.has(part.type);
}

/** Part types that hold text of the message. Reasoning, images and tool results do not. */
const textTypes = new Set<unknown>([undefined, 'text', 'input_text', 'output_text', 'refusal']);
const reasoningTypes = new Set<unknown>(['reasoning', 'thinking', 'reasoning_text']);

function textsOfPart(part: Json): string[] {
  if (typeof part === 'string') return part === '' ? [] : [part];
  // Gemini marks the text of a thought.
  if (!isJsonObject(part) || part.thought === true) return [];
  const inner = isJsonObject(part.message_content) ? part.message_content : part;
  const text = textTypes.has(inner.type) ? textIn(inner, 'text', 'content', 'refusal') : undefined;
  if (text === undefined || text === '') return [];
  const nested = partsOf(text);
  return nested[0] === text ? [text] : nested.flatMap(textsOfPart);
}

function reasoningOfPart(part: Json): string[] {
  if (!isJsonObject(part)) return [];
  const inner = isJsonObject(part.message_content) ? part.message_content : part;
  if (!reasoningTypes.has(inner.type) && inner.thought !== true) return [];
  const text = textIn(inner, 'text', 'content', 'thinking', 'reasoning');
  return text === undefined || text === '' ? [] : [text];
}

/** DeepSeek and OpenRouter send it beside the content; the items of OpenAI's responses have a summary. */
function reasoningIn(message: JsonObject): string[] {
  const text = textIn(message, 'reasoning_content', 'reasoning');
  const summary = message.type === 'reasoning' && Array.isArray(message.summary) ? message.summary : [];
  const parts = summary.flatMap((part) => (isJsonObject(part) ? (textIn(part, 'text') ?? []) : []));
  return text === undefined || text === '' ? parts : [text];
}

const callTypes = new Set<unknown>(['tool_call', 'tool_use', 'tool-call', 'function_call', 'function']);

function readToolCall(json: Json): ToolCall | undefined {
  if (!isJsonObject(json)) return undefined;
  if (isJsonObject(json.tool_call)) return readToolCall(json.tool_call);
  if (isJsonObject(json.toolRequest))
    return readToolCall({ ...json.toolRequest, type: 'function', id: json.toolRequest.ref ?? '' });
  if (isJsonObject(json.toolUse)) return readToolCall({ ...json.toolUse, id: json.toolUse.toolUseId ?? '' });
  const gemini = json.functionCall ?? (json.type === undefined ? json.function_call : undefined);
  if (isJsonObject(gemini) && json.role === undefined) return readToolCall({ ...gemini, type: 'function' });
  const called = isJsonObject(json.function) ? json.function : json;
  const name = textIn(called, 'name', 'toolName', 'tool_name');
  const isCall = json.type === undefined ? isUntypedCall(json) : callTypes.has(json.type);
  if (!isCall || name === undefined) return undefined;
  const id = textIn(json, 'call_id', 'id', 'toolCallId', 'tool_call_id');
  const given = called.arguments ?? called.input ?? called.args;
  const text = given === undefined ? undefined : textOfArguments(given);
  return { ...(id && { id }), name, ...(text !== undefined && { arguments: text }) };
}

/** Arguments as JSON text. OpenInference quotes the text of the AI SDK once more. */
function textOfArguments(given: Json): string {
  if (typeof given !== 'string') return JSON.stringify(given);
  return /^"\s*\{.*\}\s*"$/s.test(given) ? unquoted(given) : given;
}

/** A message may also have a name, but unlike a call it has a role. */
function isUntypedCall(json: JsonObject): boolean {
  if (isJsonObject(json.function) || json.toolName !== undefined) return true;
  return json.role === undefined && (json.arguments !== undefined || json.id !== undefined);
}

/** OpenInference sends Anthropic's tool calls twice: in the contents and in the tool calls. */
function distinct(calls: readonly ToolCall[]): ToolCall[] {
  const seen = new Set<string>();
  return calls.filter(({ id }) => {
    if (id === undefined) return true;
    if (seen.has(id)) return false;
    seen.add(id);
    return true;
  });
}
