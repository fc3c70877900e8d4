const tokens = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s"[\]{},:]+/g;

/** A line for each value of well-formed JSON. Numbers and texts stay as they are written. */
export function indentJson(text: string): string {
  const parts: string[] = [];
  let depth = 0;
  let isEmpty = false;
  const newLine = () => parts.push('\n', '  '.repeat(depth));
  for (const [token] of text.matchAll(tokens)) {
    if (token === '}' || token === ']') {
      depth--;
      if (!isEmpty) newLine();
      isEmpty = false;
      parts.push(token);
      continue;
    }
    if (isEmpty) newLine();
    isEmpty = token === '{' || token === '[';
    if (isEmpty) depth++;
    parts.push(token === ':' ? ': ' : token);
    if (token === ',') newLine();
  }
  return parts.join('');
}
