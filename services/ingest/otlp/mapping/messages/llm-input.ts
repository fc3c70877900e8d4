import { parseIfJson } from '../../../../../event/json/embedded-json.ts';
import { isJsonObject, type Json } from '../../../../../event/json/json-value.ts';
import { type Message, readMessage, readMessages, withoutType } from './messages.ts';

/** The input of a model call. */
export interface LlmInput {
  readonly system?: string;
  /** The text of the last user message. */
  readonly prompt?: string;
  /** The messages as they were sent. */
  readonly messages?: Json;
  readonly tools?: readonly Json[];
  /** Whether the fields above hold all of the value. */
  readonly isWhole: boolean;
  /**
   * Messages without text and without tool calls. Some senders leave content out that another attribute
   * holds.
   */
  readonly emptyCount: number;
}

/**
 * Reads an input of any convention: messages, a request with messages, or a prompt; as JSON or as JSON text.
 */
export function readInput(value: Json): LlmInput {
  const json = withoutType(parseIfJson(value));
  if (typeof json === 'string') return { prompt: json, isWhole: true, emptyCount: 0 };
  const messages = readMessages(json);
  if (messages !== undefined) {
    const tools = toolsAmong(json);
    return {
      ...summarize(messages),
      ...(tools.length > 0 && { tools }),
      messages: json,
      isWhole: true,
    };
  }
  const request = isJsonObject(json) ? readRequest(json) : undefined;
  if (request !== undefined) return request;
  const message = readMessage(json);
  if (message !== undefined) return { ...summarize([message]), messages: [json], isWhole: true };
  const prompt = typeof value === 'string' ? value : JSON.stringify(json);
  return { prompt, isWhole: true, emptyCount: 0 };
}

/** Langfuse's handler for LangChain appends the tool definitions to the messages. */
function toolsAmong(messages: Json): Json[] {
  const contents = Array.isArray(messages)
    ? messages.map((message) =>
        isJsonObject(message) && message.role === 'tool' ? message.content : undefined,
      )
    : [];
  return contents.filter(
    (content) => isJsonObject(content) && content.type === 'function' && isJsonObject(content.function),
  ) as Json[];
}

/** Reads tool definitions of any convention as a list of objects. */
export function readTools(value: Json): readonly Json[] | undefined {
  const json = parseIfJson(value);
  return Array.isArray(json) && json.length > 0 ? json.map(readTool) : undefined;
}

/** Reads the text of system instructions, which are text or a list of parts. */
export function readInstructions(value: Json): { text: string; isWhole: boolean } | undefined {
  const json = parseIfJson(value);
  const message = readMessage(Array.isArray(json) ? { role: 'system', content: json } : json);
  if (message === undefined || message.texts.length === 0) return undefined;
  const isWhole = !Array.isArray(json) || json.length === message.texts.length;
  return { text: message.texts.join('\n'), isWhole };
}

/** The members of providers' requests that hold messages. */
const listNames = ['messages', 'input', 'prompt', 'contents'] as const;
const knownNames = new Set<string>([...listNames, 'system', 'instructions', 'tools']);

function readRequest(request: { readonly [key: string]: Json }): LlmInput | undefined {
  const name = listNames.find((candidate) => request[candidate] !== undefined);
  const list = name && request[name];
  const messages = list === undefined ? undefined : readMessages(list);
  const prompt = typeof list === 'string' ? list : undefined;
  if (messages === undefined && prompt === undefined) return undefined;
  const config = isJsonObject(request.config) ? request.config : request;
  const given = config.system ?? config.instructions ?? config.system_instruction ?? config.system_prompt;
  const system = given === undefined ? undefined : readInstructions(given)?.text;
  const tools = request.tools === undefined ? undefined : readTools(request.tools);
  return {
    ...(prompt === undefined ? summarize(messages ?? []) : { prompt, emptyCount: 0 }),
    ...(system !== undefined && { system }),
    ...(messages !== undefined && list !== undefined && { messages: list }),
    ...(tools !== undefined && { tools }),
    isWhole: Object.keys(request).every((key) => knownNames.has(key)),
  };
}

function summarize(messages: readonly Message[]): Pick<LlmInput, 'system' | 'prompt' | 'emptyCount'> {
  const ofRole = (...roles: readonly string[]) =>
    messages.filter(({ role, texts }) => roles.includes(role) && texts.length > 0);
  const system = ofRole('system', 'developer').flatMap(({ texts }) => texts);
  const prompt = ofRole('user', 'human', '').at(-1);
  return {
    ...(system.length > 0 && { system: system.join('\n') }),
    ...(prompt !== undefined && { prompt: prompt.texts.join('\n') }),
    emptyCount: messages.filter(({ texts, toolCalls }) => texts.length + toolCalls.length === 0).length,
  };
}

function readTool(tool: Json): Json {
  if (typeof tool === 'string') return parseIfJson(tool);
  if (!isJsonObject(tool)) return tool;
  if (isJsonObject(tool.tool) && typeof tool.tool.json_schema === 'string') return readSchema(tool.tool);
  if (typeof tool.parameters === 'string') return { ...tool, parameters: parseIfJson(tool.parameters) };
  return tool;
}

/**
 * OpenInference's `tool.json_schema` is the definition, or only the schema of its parameters beside the name.
 */
function readSchema({ name, description, json_schema }: { readonly [key: string]: Json }): Json {
  const schema = parseIfJson(json_schema ?? null);
  const isOfParameters = typeof name === 'string' && isJsonObject(schema) && schema.type === 'object';
  if (!isOfParameters) return schema;
  return { name, ...(description !== undefined && { description }), parameters: schema };
}
