/** A JSON object of unknown shape. */
export type Json = { readonly [name: string]: unknown };

export function asObject(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {};
}

export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The text of a message's content, which is a string or a list of parts. */
export function textOf(content: unknown): string | undefined {
  if (typeof content === 'string') return content;
  const texts = asArray(content).flatMap((part) => {
    const { type, text } = asObject(part);
    const isText = type === 'text' || type === 'input_text' || type === 'output_text';
    return isText && typeof text === 'string' ? [text] : [];
  });
  return texts.length > 0 ? texts.join('\n') : undefined;
}

/** The texts of the messages with one of these roles. */
export function textsOf(messages: unknown, roles: readonly string[]): string[] {
  return asArray(messages).flatMap((message) => {
    const { role, content } = asObject(message);
    return roles.includes(String(role)) ? (textOf(content) ?? []) : [];
  });
}

/** The values of a map by index, in the order of their indexes. */
export function inOrder<T>(byIndex: ReadonlyMap<number, T>): T[] {
  return [...byIndex].sort(([a], [b]) => a - b).map(([, value]) => value);
}

/**
 * An index from a provider. Use it as a key of a map, never of an array: the index `300000000` would block
 * the program.
 */
export function asIndex(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
