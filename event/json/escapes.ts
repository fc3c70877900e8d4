/** Length of `\u0041`. */
export const escapeCharsMax = 6;

/** Whether a character belongs to an escape, like the `n` of `\n` or a digit of `\u00e9`. */
export function isInsideEscape(json: string, at: number): boolean {
  for (let start = at - 1; start > at - escapeCharsMax && start >= 0; start--) {
    if (json[start] === '\\' && !isEscaped(json, start))
      return start + (json[start + 1] === 'u' ? escapeCharsMax : 2) > at;
  }
  return false;
}

/** Whether the character is the second one of an escape. */
export function isEscaped(json: string, at: number): boolean {
  let start = at;
  while (json[start - 1] === '\\') start -= 1;
  return (at - start) % 2 === 1;
}
