import {
  find,
  type JsonNode,
  type JsonSource,
  nodeAt,
  openSource,
  readString,
  sourceOf,
} from '../json/node.ts';
import { readAny, readCall, type ToolCall } from './event-text.ts';
import { type MediaPart, readMedia } from './media-part.ts';

/** A message of a conversation that a client sent as JSON text in the prompt. */
export interface Message {
  role: 'system' | 'user' | 'assistant' | 'tool';
  parts: MessagePart[];
  source: string;
}

export type MessagePart =
  | { kind: 'text'; text: string }
  | { kind: 'call'; call: ToolCall }
  /** `name` is the tool, or the id of the call. */
  | { kind: 'result'; name: string | undefined; text: string }
  | { kind: 'thinking'; text: string }
  | MediaPart
  | { kind: 'other'; text: string };

/** Parsing a longer text would block the page; base64 takes no time. */
const parsedCharsMax = 1_000_000;
const base64 = /[\w+/-]{1000,}/g;

const roles: Record<string, Message['role']> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  human: 'user',
  assistant: 'assistant',
  ai: 'assistant',
  model: 'assistant',
  tool: 'tool',
  function: 'tool',
};

/** Messages of a JSON array, or of an object's member `messages`; undefined for another text. */
export function readMessages(text: string): Message[] | undefined {
  const first = text.trimStart()[0];
  if (first !== '[' && first !== '{') return undefined;
  if (text.length > parsedCharsMax && text.replaceAll(base64, '').length > parsedCharsMax) return undefined;
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  const source = openSource(text);
  const root = nodeAt(text, text.indexOf(first));
  const list = root.kind === 'array' ? root : find(source, root, 'messages');
  if (list?.kind !== 'array') return undefined;
  const messages = nameResults(source.childrenOf(list).map(({ node }) => readMessage(source, node)));
  const known = messages.filter((message) => message !== undefined);
  return known.length > 0 && known.length === messages.length ? known : undefined;
}

/** Gives results the name of the tool whose call they answer: most providers only send the id of the call. */
function nameResults(messages: readonly (Message | undefined)[]): (Message | undefined)[] {
  const names = new Map<string, string>();
  for (const part of messages.flatMap((message) => message?.parts ?? []))
    if (part.kind === 'call' && part.call.callId !== undefined) names.set(part.call.callId, part.call.name);
  return messages.map(
    (message) =>
      message && {
        ...message,
        parts: message.parts.map((part) =>
          part.kind === 'result' ? { ...part, name: names.get(part.name ?? '') ?? part.name } : part,
        ),
      },
  );
}

function readMessage(source: JsonSource, node: JsonNode): Message | undefined {
  if (node.kind !== 'object') return undefined;
  const { text } = source;
  const at = (...names: string[]) => find(source, node, ...names);
  const role = roles[readString(text, at('role'))?.toLowerCase() ?? ''];
  if (role === undefined) return undefined;
  const content = at('content') ?? at('parts');
  const calls = at('tool_calls') ?? at('toolCalls');
  const parts = content === undefined ? [] : readContent(source, content);
  const own = readAny(text, at('name')) ?? readAny(text, at('tool_call_id'));
  return {
    role,
    parts: [
      ...(role === 'tool'
        ? parts.map((part) =>
            part.kind === 'text' ? { kind: 'result' as const, name: own, text: part.text } : part,
          )
        : parts),
      ...(calls === undefined ? [] : source.childrenOf(calls)).map(
        ({ node: call, index }): MessagePart => ({ kind: 'call', call: readCall(source, call, index) }),
      ),
    ],
    source: text.slice(node.start, node.end),
  };
}

function readContent(source: JsonSource, content: JsonNode): MessagePart[] {
  const { text } = source;
  if (content.kind === 'array') return source.childrenOf(content).map(({ node }) => readPart(source, node));
  const own = readAny(text, content);
  if (own === undefined || own === '') return [];
  return [content.kind === 'string' ? { kind: 'text', text: own } : { kind: 'other', text: own }];
}

/** Providers name the types of parts differently: `tool_use`, `tool-call`, `function_call`. */
function readPart(source: JsonSource, node: JsonNode): MessagePart {
  const { text } = source;
  const at = (...names: string[]) => find(source, node, ...names);
  if (node.kind === 'string') return { kind: 'text', text: readString(text, node) ?? '' };
  const type = readString(text, at('type'))?.replaceAll('-', '_') ?? '';
  if (['tool_use', 'tool_call', 'function_call'].includes(type))
    return { kind: 'call', call: readCall(source, node, 0) };
  if (['tool_result', 'function_call_output'].includes(type)) {
    const result = at('content') ?? at('output') ?? at('result');
    const name = [at('toolName'), at('name'), at('tool_use_id'), at('toolCallId'), at('call_id')]
      .map((one) => readString(text, one))
      .find((one) => one !== undefined);
    return { kind: 'result', name, text: readResult(source, result) };
  }
  const media = readMedia(source, node, type);
  if (media !== undefined) return media;
  const thought = readString(text, at('thinking')) ?? readString(text, at('text'));
  const flag = at('thought');
  const isThought =
    ['thinking', 'reasoning'].includes(type) || (flag !== undefined && sourceOf(text, flag) === 'true');
  if (isThought && thought !== undefined) return { kind: 'thinking', text: thought };
  const own = readString(text, at('text'));
  if (own !== undefined && (type === '' || type.endsWith('text'))) return { kind: 'text', text: own };
  return { kind: 'other', text: text.slice(node.start, node.end) };
}

/** A text, a list of text parts, or any JSON. */
function readResult(source: JsonSource, node: JsonNode | undefined): string {
  if (node?.kind === 'array') {
    const parts = readContent(source, node);
    if (parts.every((part) => part.kind === 'text')) return parts.map(({ text }) => text).join('\n');
  }
  return readAny(source.text, node) ?? '';
}
