import { childrenOf, find, type JsonNode, nodeAt, readString, sourceOf } from '../json/node.ts';

/** A call that the model asked for. */
export interface ToolCall {
  name: string;
  /** The provider's id of the call; the tool's event may name it too. */
  callId: string | undefined;
  /** JSON, or the text that the model wrote in its place. */
  input: string | undefined;
}

/** What a page shows of an event, read from the text that was sent. Every value is JSON text or a decoded string. */
export interface EventText {
  text: string;
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
  const root = nodeAt(text);
  const at = (...names: string[]) => find(text, root, ...names);
  const llm = at('properties', 'llm');
  const tool = at('properties', 'tool');
  return {
    text,
    ...(llm && { llm: readLlm(text, llm) }),
    ...(tool && {
      tool: {
        input: readAny(text, find(text, tool, 'input')),
        output: readAny(text, find(text, tool, 'output')),
        callId: readString(text, find(text, tool, 'callId')),
      },
    }),
    attributes: elements(text, at('additionalProperties')).map(({ key, node }) => ({
      key: key ?? '',
      value: readAny(text, node) ?? '',
    })),
    sourcePackage: readString(text, at('instrumentation', 'sourcePackage')),
    sourceFunction: readString(text, at('instrumentation', 'sourceFunction')),
  };
}

function readLlm(text: string, llm: JsonNode): NonNullable<EventText['llm']> {
  const at = (...names: string[]) => find(text, llm, ...names);
  const count = (...names: string[]) => readNumber(text, at('usage', ...names));
  return {
    system: readAny(text, at('input', 'system')),
    prompt: readAny(text, at('input', 'prompt')),
    response: readAny(text, at('output', 'response')),
    tools: elements(text, at('input', 'tools')).map(({ node, index }) => ({
      name: nameIn(text, node) ?? `tool ${index + 1}`,
      source: sourceOf(text, node),
    })),
    toolCalls: elements(text, at('output', 'toolCalls')).map(({ node, index }) =>
      readCall(text, node, index),
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

/** Providers name the parts of a call differently; the contract does not say how. */
function readCall(text: string, node: JsonNode, index: number): ToolCall {
  const first = (...paths: string[][]) => {
    for (const path of paths) {
      const found = find(text, node, ...path);
      if (found !== undefined) return readAny(text, found);
    }
    return undefined;
  };
  return {
    name: nameIn(text, node) ?? `call ${index + 1}`,
    callId: first(['callId'], ['toolCallId'], ['call_id'], ['id']),
    input: first(['input'], ['arguments'], ['args'], ['function', 'arguments']),
  };
}

function nameIn(text: string, node: JsonNode): string | undefined {
  return (
    readString(text, find(text, node, 'name')) ??
    readString(text, find(text, node, 'toolName')) ??
    readString(text, find(text, node, 'function', 'name')) ??
    (node.kind === 'string' ? readString(text, node) : undefined)
  );
}

/** A string's text; other values as they are written; null is no value. */
function readAny(text: string, node: JsonNode | undefined): string | undefined {
  if (node === undefined) return undefined;
  if (node.kind === 'string') return readString(text, node);
  const source = sourceOf(text, node);
  return source === 'null' ? undefined : source;
}

function readNumber(text: string, node: JsonNode | undefined): number | undefined {
  return node?.kind === 'number' ? Number(sourceOf(text, node)) : undefined;
}

function elements(text: string, node: JsonNode | undefined) {
  return node === undefined ? [] : childrenOf(text, node);
}
