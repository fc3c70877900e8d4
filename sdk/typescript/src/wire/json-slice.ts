/**
 * Extracts members and elements from JSON text, as text: integers keep all digits, and nothing is serialized
 * again. The text must be valid JSON; the callers have parsed it.
 */

/** The texts of an object's members, by name. Of duplicate names the last one wins, as in `JSON.parse`. */
export function sliceMembers(text: string): Map<string, string> {
  const members = new Map<string, string>();
  let at = skipSpace(text, 0);
  if (text[at] !== '{') return members;
  at = skipSpace(text, at + 1);
  while (text[at] === '"') {
    const nameEnd = skipString(text, at);
    const name: string = JSON.parse(text.slice(at, nameEnd));
    const start = skipSpace(text, skipSpace(text, nameEnd) + 1);
    const end = skipValue(text, start);
    members.set(name, text.slice(start, end));
    at = skipSpace(text, skipSpace(text, end) + 1);
  }
  return members;
}

/** The texts of an array's elements. */
export function sliceElements(text: string): string[] {
  const elements: string[] = [];
  let at = skipSpace(text, 0);
  if (text[at] !== '[') return elements;
  at = skipSpace(text, at + 1);
  while (at < text.length && text[at] !== ']') {
    const end = skipValue(text, at);
    elements.push(text.slice(at, end));
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return elements;
}

function skipSpace(text: string, start: number): number {
  let at = start;
  while (at < text.length && text.charCodeAt(at) <= 32) at++;
  return at;
}

function skipValue(text: string, start: number): number {
  const first = text[start];
  if (first === '"') return skipString(text, start);
  if (first !== '{' && first !== '[') return endOfScalar(text, start);
  const structural = /["{}[\]]/g;
  structural.lastIndex = start;
  for (let depth = 0; ; ) {
    const match = structural.exec(text);
    if (match === null) return text.length;
    const [character] = match;
    if (character === '"') structural.lastIndex = skipString(text, match.index);
    else depth += character === '{' || character === '[' ? 1 : -1;
    if (depth === 0) return structural.lastIndex;
  }
}

function endOfScalar(text: string, start: number): number {
  const end = /[,\]}\s]/g;
  end.lastIndex = start;
  return end.exec(text)?.index ?? text.length;
}

/** @returns the index after the closing quote. */
function skipString(text: string, start: number): number {
  for (let at = start + 1; ; at++) {
    at = text.indexOf('"', at);
    if (at === -1) return text.length;
    let backslashes = 0;
    while (text[at - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return at + 1;
  }
}
