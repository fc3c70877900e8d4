/** A part of a text: as it is, or a character that is invisible or changes the order of others, or a secret. */
export type TextPart =
  | { kind: 'plain'; text: string }
  | { kind: 'mark'; text: string; name: string }
  | { kind: 'secret'; text: string };

/** Secrets that are recognised: API keys of Weir, also behind other characters of a word, of OpenAI and Anthropic, and JSON Web Tokens. */
const secret =
  /(?:weir_[0-9A-Za-z]{38}|\b(?:sk-[A-Za-z0-9_-]{16,}|eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}))\b/g;

/**
 * Control characters, format characters such as those that turn the direction of a text, separators of lines that look
 * like spaces, and halves of surrogate pairs. Not the joiner inside of an emoji.
 */
const invisible =
  /(?![\t\n])[\p{Cc}\p{Cs}\u2028\u2029\u115F\u1160\u3164\uFFA0]|(?!\u200D)\p{Cf}|(?<!\p{Extended_Pictographic}|\p{Emoji_Modifier}|\uFE0F)\u200D/gu;

/** Splits a text so that nothing of it is invisible, and no secret is shown by accident. */
export function splitText(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let at = 0;
  for (const match of text.matchAll(secret)) {
    parts.push(...splitMarks(text.slice(at, match.index)), { kind: 'secret', text: match[0] });
    at = match.index + match[0].length;
  }
  parts.push(...splitMarks(text.slice(at)));
  return parts;
}

/** Longer ones are cut: a line of megabytes would stop the page. In characters. */
const wholeSecretMax = 4_000;

/**
 * Where to cut a text that is shown in parts: at `at`, or beside the secret there. Half a secret is not recognised, and would be
 * shown.
 */
export function cutOutsideSecret(text: string, at: number): number {
  const start = Math.max(0, at - wholeSecretMax);
  const around = findSecrets(text.slice(start, at + wholeSecretMax)).find(
    ({ from, to }) => start + from < at && at < start + to,
  );
  if (around === undefined) return at;
  return around.from > 0 ? start + around.from : start + around.to;
}

/** Where the secrets of a text are, in its order; very long ones are none. */
export function findSecrets(text: string): { from: number; to: number }[] {
  return [...text.matchAll(secret)]
    .map(({ 0: found, index }) => ({ from: index, to: index + found.length }))
    .filter(({ from, to }) => to - from <= wholeSecretMax);
}

/** A text as plain characters that are all visible, for titles and for labels of screen readers. */
export function describeText(text: string): string {
  return splitText(text)
    .map((part) =>
      part.kind === 'mark' ? part.name : part.kind === 'secret' ? maskSecret(part.text) : part.text,
    )
    .join('');
}

const shownChars = 5;

export function maskSecret(secret: string): string {
  return `${secret.slice(0, shownChars)}••••••••`;
}

function splitMarks(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let at = 0;
  for (const { 0: character, index } of text.matchAll(invisible)) {
    if (index > at) parts.push({ kind: 'plain', text: text.slice(at, index) });
    parts.push({ kind: 'mark', text: character, name: nameOf(character) });
    at = index + character.length;
  }
  if (at < text.length) parts.push({ kind: 'plain', text: text.slice(at) });
  return parts;
}

/** `\u202e`, as JSON escapes it. */
function nameOf(character: string): string {
  return [...Array(character.length).keys()]
    .map((unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, '0')}`)
    .join('');
}
