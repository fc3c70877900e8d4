import {
  find,
  type JsonNode,
  type JsonSource,
  nodeAt,
  openSource,
  readString,
  sourceOf,
} from '../json/node.ts';

export interface ToolCall {
  name: string;
  /** The provider's id; the tool's event may name it, too. */
  callId: string | undefined;
  /** JSON, or the text that the model wrote instead. */
  input: string | undefined;
}

/** Parts of an event's JSON as sent. Every value is JSON text or a decoded string. */
export interface EventText {
  text: string;
  id: string | undefined;
  llm?: {
    system: string | undefined;
    prompt: string | undefined;
    response: string | undefined;
    tools: { name: string; source: string }[];
    toolCalls: ToolCall[];
    usage: Usage;
  };
  tool?: { input: string | undefined; output: string | undefined; callId: string | undefined };
  attributes: { key: string; value: string }[];
  sourcePackage: string | undefined;
  sourceFunction: string | undefined;
}

/** Token counts as they were sent. */
export interface Usage {
  input: number | undefined;
  cacheRead: number | undefined;
  cacheWrite: number | undefined;
  output: number | undefined;
  reasoning: number | undefined;
  total: number | undefined;
}

/** @throws SyntaxError when the text is no JSON, which the API never returns. */
export function readEventText(text: string): EventText {
  const source = openSource(text);
  const root = nodeAt(text);
  const at = (...names: string[]) => find(source, root, ...names);
  const llm = at('properties', 'llm');
  const tool = at('properties', 'tool');
  return {
    text,
    id: readString(text, at('id')),
    ...(llm && { llm: readLlm(source, llm) }),
    ...(tool && {
      tool: {
        input: readAny(text, find(source, tool, 'input')),
        output: readAny(text, find(source, tool, 'output')),
        callId: readString(text, find(source, tool, 'callId')),
      },
    }),
    attributes: elements(source, at('additionalProperties')).map(({ key, node }) => ({
      key: key ?? '',
      value: readAny(text, node) ?? '',
    })),
    sourcePackage: readString(text, at('instrumentation', 'sourcePackage')),
    sourceFunction: readString(text, at('instrumentation', 'sourceFunction')),
  };
}

function readLlm(source: JsonSource, llm: JsonNode): NonNullable<EventText['llm']> {
  const { text } = source;
  const at = (...names: string[]) => find(source, llm, ...names);
  const count = (...names: string[]) => readNumber(text, at('usage', ...names));
  return {
    system: readAny(text, at('input', 'system')),
    prompt: readAny(text, at('input', 'prompt')),
    response: readAny(text, at('output', 'response')),
    tools: elements(source, at('input', 'tools')).map(({ node, index }) => ({
      name: nameIn(source, node) ?? `tool ${index + 1}`,
      source: sourceOf(text, node),
    })),
    toolCalls: elements(source, at('output', 'toolCalls')).map(({ node, index }) =>
      readCall(source, node, index),
    ),
    usage: {
      input: count('inputTokens'),
      cacheRead: count('inputTokenDetails', 'cacheReadTokens'),
      cacheWrite: count('inputTokenDetails', 'cacheWriteTokens'),
      output: count('outputTokens'),
      reasoning: count('outputTokenDetails', 'reasoningTokens'),
      total: count('totalTokens'),
    },
  };
}

/** Providers name the parts of a call differently; docs/api.md §2.6 leaves them free. */
export function readCall(source: JsonSource, node: JsonNode, index: number): ToolCall {
  const first = (...paths: string[][]) => {
    for (const path of paths) {
      const found = find(source, node, ...path);
      if (found !== undefined) return readAny(source.text, found);
    }
    return undefined;
  };
  return {
    name: nameIn(source, node) ?? `call ${index + 1}`,
    callId: first(['callId'], ['toolCallId'], ['call_id'], ['id']),
    input: first(['input'], ['arguments'], ['args'], ['function', 'arguments']),
  };
}

function nameIn(source: JsonSource, node: JsonNode): string | undefined {
  return (
    readString(source.text, find(source, node, 'name')) ??
    readString(source.text, find(source, node, 'toolName')) ??
    readString(source.text, find(source, node, 'function', 'name')) ??
    (node.kind === 'string' ? readString(source.text, node) : undefined)
  );
}

/** A string's text; other values as they are written; null is no value. */
export function readAny(text: string, node: JsonNode | undefined): string | undefined {
  if (node === undefined) return undefined;
  if (node.kind === 'string') return readString(text, node);
  const source = sourceOf(text, node);
  return source === 'null' ? undefined : source;
}

function readNumber(text: string, node: JsonNode | undefined): number | undefined {
  return node?.kind === 'number' ? Number(sourceOf(text, node)) : undefined;
}

function elements(source: JsonSource, node: JsonNode | undefined) {
  return node === undefined ? [] : source.childrenOf(node);
}
