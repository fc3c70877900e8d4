/** The value of a label as it was typed: a number, true or false, or a text. */
export function parseValue(typed: string): string | number | boolean {
  const text = typed.trim();
  if (text === 'true' || text === 'false') return text === 'true';
  // A number that JavaScript prints otherwise, such as an id with leading zeros, stays a text.
  return String(Number(text)) === text && Number.isFinite(Number(text)) ? Number(text) : text;
}
