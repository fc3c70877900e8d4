import type { ListedEvent } from '../../event/event-query.ts';

/** The fields of a tool's event that a prompt may repeat. */
type ToolResult = Pick<ListedEvent, 'name' | 'outputPreview' | 'errorMessage'>;

/** Shorter outputs also have to stand beside the tool's name: `ok` may be a part of any text. */
const outputCharsMin = 16;

/** A whole part such as `957.0`. People seldom answer so; they do answer `2` or `ok`. */
const numberLike = /^(?=.*\d).{3,}$/;

/**
 * Separates the results of tools from what is new in a prompt. Agents repeat the results in the next prompt,
 * while the thread shows them at the tools already.
 *
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

/** Whether a part of a prompt has the output of a tool, of which a preview is known, or its error message. */
function repeats(part: string, { name, outputPreview, errorMessage }: ToolResult): boolean {
  return [outputPreview, errorMessage].some((text) => {
    const output = compact(text ?? '');
    if (output === '' || !compact(part).includes(output)) return false;
    if (compact(part) === output && numberLike.test(output)) return true;
    return output.length >= outputCharsMin || (name !== null && part.includes(name));
  });
}

/** Without white space and escapes, which differ where JSON is written anew or stands in a text. */
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
