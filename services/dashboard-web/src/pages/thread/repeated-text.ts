import type { ListedEvent } from '../../event/event-query.ts';
import type { Message } from '../../event/messages.ts';

/** The beginning that a prompt shares with the prompt before. */
export interface Repeated {
  /** How many characters it has; 0 when there is nothing to fold. */
  end: number;
  /** Whole ones; 0 when it ends within a line, between two elements of a JSON array. */
  lines: number;
}

const noRepeat: Repeated = { end: 0, lines: 0 };

/** Finds whole lines, or elements of a JSON array on a line: no word, secret or base64 is cut in two. */
export function findRepeated(text: string, before: string): Repeated {
  let same = 0;
  while (same < text.length && same < before.length && text.charCodeAt(same) === before.charCodeAt(same))
    same++;
  if (same === 0) return noRepeat;
  const endsLine = (at: number, whole: string) => at === whole.length || whole[at] === '\n';
  // Up to the end of a line in both, so that a line that only begins alike is shown.
  const isLine = endsLine(same, text) && endsLine(same, before);
  const lineEnd = isLine ? same + (text[same] === '\n' ? 1 : 0) : text.lastIndexOf('\n', same - 1) + 1;
  if (lineEnd > 0) {
    const head = text.slice(0, lineEnd);
    return { end: lineEnd, lines: head.split('\n').length - (head.endsWith('\n') ? 1 : 0) };
  }
  if (text[0] !== '[') return noRepeat;
  // The array before ends where this one goes on: `}]` and `},`.
  const elementEnd = text.lastIndexOf('},', same) + 2;
  return elementEnd > 1 ? { end: elementEnd, lines: 0 } : noRepeat;
}

/** What a prompt adds, and how many of its messages the thread shows already. */
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

type ToolResult = Pick<ListedEvent, 'name' | 'outputPreview' | 'errorMessage'>;

/** Shorter outputs also have to stand beside the tool's name: `ok` may be a part of any text. */
const outputCharsMin = 16;

/** A whole part such as `957.0`. People seldom answer so; they do answer `2` or `ok`. */
const numberLike = /^(?=.*\d).{3,}$/;

/**
 * Separates results of tools, which agents repeat in the next prompt and the thread shows at the tools.
 * @param text lines, or the elements of a JSON array after those that the prompt before had, too.
 * @param tools of the turn before.
 */
export function splitToolResults(
  text: string,
  tools: readonly ToolResult[],
): { rest: string; results: number } {
  const isResult = (part: string) => tools.some((tool) => repeats(part, tool));
  const elements = readElements(text);
  const parts = elements ?? text.split(/(?<=\n)/);
  const rest = parts.filter((part) => !isResult(part));
  const results = parts.length - rest.length;
  if (results === 0) return { rest: text, results };
  return { rest: rest.join(elements === undefined ? '' : ',\n').trim(), results };
}

/** Whether a part has the preview of the tool's output, or its error message. */
function repeats(part: string, { name, outputPreview, errorMessage }: ToolResult): boolean {
  return [outputPreview, errorMessage].some((text) => {
    const output = compact(text ?? '');
    if (output === '' || !compact(part).includes(output)) return false;
    if (compact(part) === output && numberLike.test(output)) return true;
    return output.length >= outputCharsMin || (name !== null && part.includes(name));
  });
}

/** White space and escapes differ where JSON is written anew or stands in a text. */
function compact(text: string): string {
  return text.replaceAll(/[\s\\]/g, '');
}

/** The elements of the end of a JSON array; undefined when the text is none. */
function readElements(text: string): string[] | undefined {
  if (!text.trimEnd().endsWith(']')) return undefined;
  try {
    const elements: unknown = JSON.parse(text.trimStart().startsWith('[') ? text : `[${text}`);
    return Array.isArray(elements) ? elements.map((one) => JSON.stringify(one)) : undefined;
  } catch {
    return undefined;
  }
}
