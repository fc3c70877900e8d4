import type { ListedEvent } from '../events/listed-event.ts';
import { cutText, cutTexts } from './answer.ts';
import { listedTextCharsMax, threadTextCharsMax } from './limits.ts';

/** An event of a list: the columns that it has, with short texts and its address as a resource. */
export function showListed(spaceId: string, event: ListedEvent): Record<string, unknown> {
  const { startTimeMs, endTimeMs: _end, receivedAt: _received, flags, costBound, ...columns } = event;
  const shown = cutTexts(columns, listedTextCharsMax) as Record<string, unknown>;
  return {
    ...shown,
    startTime: new Date(startTimeMs).toISOString(),
    ...(costBound !== 'exact' && { costBound }),
    ...(flags.length > 0 && { flags }),
    uri: eventUri(spaceId, event.id),
  };
}

/** The addresses of resources. They stay the same as long as the event is stored. */
export function eventUri(spaceId: string, id: string): string {
  return `weir://${spaceId}/events/${id}`;
}

/**
 * What an event adds to its conversation: the last message of its input, and its output. Earlier messages are those of the events before it.
 *
 * @param text the event as it was sent.
 */
export function showPayload(text: string): { input?: string; output?: string } {
  const { properties } = JSON.parse(text) as { properties?: Record<string, Record<string, unknown>> };
  const payload = properties?.llm ?? properties?.tool;
  const input = lastMessage(payload?.input);
  const output = payload?.output;
  return {
    ...(input !== undefined && { input: cutText(asText(input), threadTextCharsMax) }),
    ...(output !== undefined && { output: cutText(asText(output), threadTextCharsMax) }),
  };
}

/** An LLM input has its messages in `prompt` or `messages`, as a list or as a text. */
function lastMessage(input: unknown): unknown {
  if (typeof input !== 'object' || input === null) return input;
  const { prompt, messages } = input as { prompt?: unknown; messages?: unknown };
  const list = messages ?? prompt;
  return Array.isArray(list) ? list.at(-1) : (list ?? input);
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
