import { isCut } from './event-query.ts';

/** The beginning of a conversation as JSON, up to the first text in it. */
const firstMessage =
  /^\s*(?:\{\s*"messages"\s*:\s*)?\[\s*\{\s*"role"\s*:\s*"(\w+)"\s*,\s*"content"\s*:\s*(?:\[\s*\{\s*"type"\s*:\s*"\w+"\s*,\s*"text"\s*:\s*)?"((?:[^"\\]|\\.)*)/;

/**
 * The preview of an input: of a conversation that was sent as JSON, the first message. An ellipsis marks a
 * cut.
 */
export function showInput(preview: string): string {
  const [, role, text] = firstMessage.exec(preview) ?? [];
  const shown = role === undefined || text === undefined ? undefined : decode(text);
  if (shown === undefined) return isCut(preview) ? `${preview}…` : preview;
  return `${role === 'user' ? '' : `${role}: `}${shown}…`;
}

function decode(text: string): string | undefined {
  try {
    return JSON.parse(`"${text}"`);
  } catch {
    return undefined;
  }
}
