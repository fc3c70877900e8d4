import type { ListedEvent } from '../../event/event-query.ts';
import type { Message } from '../../event/messages.ts';
import { splitToolResults } from './tool-results.ts';

/** What a prompt adds to the conversation, and how many of its messages the thread shows already. */
export interface NewMessages {
  messages: Message[];
  /** Messages that the prompt before had, too, and the response to it. */
  repeated: number;
  /** Results of tools that the turn before shows. */
  results: number;
}

/** @param before the messages of the prompt of the turn before; undefined without one. */
export function findNewMessages(
  messages: readonly Message[],
  before: readonly Message[] | undefined,
  toolsBefore: readonly Pick<ListedEvent, 'name' | 'outputPreview' | 'errorMessage'>[],
): NewMessages {
  const changed = messages.findIndex(({ source }, index) => source !== before?.[index]?.source);
  let start = changed === -1 ? messages.length : changed;
  // The response to the prompt before stands above.
  if (before !== undefined && start > 0) while (messages[start]?.role === 'assistant') start += 1;
  const added = messages.slice(start);
  const shown = added.filter(
    ({ parts }) =>
      parts.length === 0 ||
      !parts.every((part) => part.kind === 'result' && splitToolResults(part.text, toolsBefore).rest === ''),
  );
  return { messages: shown, repeated: start, results: added.length - shown.length };
}
