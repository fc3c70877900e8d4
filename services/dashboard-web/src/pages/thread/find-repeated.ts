/** The beginning that a prompt shares with the prompt before. */
export interface Repeated {
  /** How many characters it has; 0 when there is nothing to fold. */
  end: number;
  /** How many whole lines it has; 0 when it ends within a line, between two elements of a JSON array. */
  lines: number;
}

const noRepeat: Repeated = { end: 0, lines: 0 };

/**
 * The common beginning of two prompts, in whole lines, or in whole elements of a JSON array on one line, so
 * that no word, secret or base64 is cut in two.
 */
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
