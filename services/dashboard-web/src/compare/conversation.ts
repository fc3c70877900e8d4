import type { EventText } from '../event/event-text.ts';
import { type Message, type MessagePart, readMessages } from '../event/messages.ts';
import type { ComparedMessage } from './compare-messages.ts';

export type ShownMessage = Message & ComparedMessage;

/** A tool's call is a call with its result. */
export function conversationOf({ llm, tool }: EventText, name: string): ShownMessage[] {
  const text = (role: Message['role'], text: string | undefined): Message[] =>
    text === undefined || text === '' ? [] : [{ role, source: text, parts: [{ kind: 'text', text }] }];
  const parts = (role: Message['role'], parts: MessagePart[]): Message[] =>
    parts.length === 0 ? [] : [{ role, source: '', parts }];
  const messages = [
    ...text('system', llm?.system),
    ...(llm?.prompt === undefined ? [] : (readMessages(llm.prompt) ?? text('user', llm.prompt))),
    ...text('assistant', llm?.response),
    ...parts(
      'assistant',
      (llm?.toolCalls ?? []).map((call) => ({ kind: 'call', call })),
    ),
    ...parts(
      'tool',
      tool === undefined ? [] : [{ kind: 'call', call: { name, callId: undefined, input: tool.input } }],
    ),
    ...parts('tool', tool?.output === undefined ? [] : [{ kind: 'result', name, text: tool.output }]),
  ];
  return messages.map((message) => ({
    ...message,
    text: message.parts.map(describePart).join('\n'),
    key: message.parts
      .map((part) => (part.kind === 'media' ? (part.data ?? part.url) : describePart(part)))
      .join('\n'),
  }));
}

/** A part without the id of its call, which differs in every run. */
function describePart(part: MessagePart): string {
  if (part.kind === 'call') return `${part.call.name}(${part.call.input ?? ''})`;
  if (part.kind === 'media')
    return `[${[part.what, part.type, part.name, part.url].filter(Boolean).join(' ')}]`;
  return part.text;
}
