/** A part of a text: plain, a character that is invisible or changes the order of others, or a secret. */
export type TextPart =
  | { kind: 'plain'; text: string }
  | { kind: 'mark'; text: string; name: string }
  | { kind: 'secret'; text: string };

/** API keys of Weir, also behind other characters of a word, and keys of OpenAI and Anthropic. */
const key = /(?:weir_(?:read_)?[0-9A-Za-z]{38}|\bsk-[A-Za-z0-9_-]{16,})\b/g;

/** Ends a JSON Web Token: a pattern for a whole one reads a word at each `eyJ`, in quadratic time. */
const tokenEnd = /\.eyJ[\w-]{8,}\.[\w-]{8,}\b/g;

/** The beginning of a token, in the word before `tokenEnd`. */
const tokenStart = /\beyJ[\w-]{8}/;

/** Control and format characters, line separators, halves of surrogate pairs; not the joiner of an emoji. */
const invisible =
  /(?![\t\n])[\p{Cc}\p{Cs}\u2028\u2029\u115F\u1160\u3164\uFFA0]|(?!\u200D)\p{Cf}|(?<!\p{Extended_Pictographic}|\p{Emoji_Modifier}|\uFE0F)\u200D/gu;

export function splitText(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let at = 0;
  for (const { from, to } of findAllSecrets(text)) {
    pushMarks(parts, text.slice(at, from));
    parts.push({ kind: 'secret', text: text.slice(from, to) });
    at = to;
  }
  pushMarks(parts, text.slice(at));
  return parts;
}

/** Longer ones are cut: a line of megabytes would stop the page. In characters. */
const wholeSecretMax = 4_000;

/** Where to cut: at `at`, or beside the secret there. Half a secret is not recognised, and would be shown. */
export function cutOutsideSecret(text: string, at: number): number {
  const start = Math.max(0, at - wholeSecretMax);
  const around = findSecrets(text.slice(start, at + wholeSecretMax)).find(
    ({ from, to }) => start + from < at && at < start + to,
  );
  if (around === undefined) return at;
  return around.from > 0 ? start + around.from : start + around.to;
}

/** Secrets in order, without very long ones, since no line can hold them. */
export function findSecrets(text: string): SecretRange[] {
  return findAllSecrets(text).filter(({ from, to }) => to - from <= wholeSecretMax);
}

interface SecretRange {
  from: number;
  to: number;
}

/** Takes time in proportion to the length of the text, whatever it holds: texts come from clients. */
function findAllSecrets(text: string): SecretRange[] {
  const found = [...text.matchAll(key)].map(({ 0: match, index }) => ({
    from: index,
    to: index + match.length,
  }));
  return mergeRanges(found.concat(findTokens(text)).toSorted((a, b) => a.from - b.from));
}

function findTokens(text: string): SecretRange[] {
  const found: SecretRange[] = [];
  for (const { 0: match, index } of text.matchAll(tokenEnd)) {
    // Each word ends at the dot before the match, so no word is read twice.
    let start = index;
    while (start > 0 && /[\w-]/.test(text[start - 1] ?? '')) start--;
    const head = tokenStart.exec(text.slice(start, index));
    if (head !== null) found.push({ from: start + head.index, to: index + match.length });
  }
  return found;
}

/** Overlapping ranges become one, so that nothing of either is shown. */
function mergeRanges(sorted: readonly SecretRange[]): SecretRange[] {
  const merged: SecretRange[] = [];
  for (const range of sorted) {
    const last = merged.at(-1);
    if (last !== undefined && range.from < last.to) last.to = Math.max(last.to, range.to);
    else merged.push({ ...range });
  }
  return merged;
}

/** Adds the parts of a text without secrets. */
function pushMarks(parts: TextPart[], text: string): void {
  let at = 0;
  for (const { 0: character, index } of text.matchAll(invisible)) {
    if (index > at) parts.push({ kind: 'plain', text: text.slice(at, index) });
    parts.push({ kind: 'mark', text: character, name: nameOf(character) });
    at = index + character.length;
  }
  if (at < text.length) parts.push({ kind: 'plain', text: text.slice(at) });
}

/** `\u202e`, as JSON escapes it. */
function nameOf(character: string): string {
  return [...Array(character.length).keys()]
    .map((unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, '0')}`)
    .join('');
}
