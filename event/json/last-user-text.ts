/** `"user"` as a role, and the text that follows it in the shapes of OpenAI, Anthropic, Google and Vercel. */
const roleBefore = /"role"\s*:\s*$/;
const textBehind =
  /^\s*,\s*"(?:content|parts)"\s*:\s*(?:\[\s*\{\s*(?:"type"\s*:\s*"(?:input_)?text"\s*,\s*)?"(?:text|content)"\s*:\s*)?"((?:[^"\\]|\\(?:u[0-9a-fA-F]{4}|[^u]))*)/;

/** Messages of users without a text, such as results of tools. */
const passedMax = 50;

/**
 * The beginning of the last text of a user in a JSON conversation: each prompt of a chat begins with the same
 * message. Searched from the end, without parsing, for each received event.
 * @param charsMax a longer text is returned, too, and cut by the caller.
 * @returns undefined when the prompt is no conversation, or has no text of a user.
 */
export function lastUserText(prompt: string, charsMax: number): string | undefined {
  if (!/^\s*[[{]/.test(prompt)) return undefined;
  const value = '"user"';
  let before = prompt.length;
  for (let passed = 0; passed < passedMax && before > 0; passed++) {
    const at = prompt.lastIndexOf(value, before - 1);
    if (at === -1) return undefined;
    before = at;
    if (!roleBefore.test(prompt.slice(Math.max(0, at - 32), at))) continue;
    // An escape has up to six characters.
    const behind = prompt.slice(at + value.length, at + value.length + 200 + 6 * charsMax);
    const text = textBehind.exec(behind)?.[1];
    if (text !== undefined && text.trim() !== '') return decode(text);
  }
  return undefined;
}

function decode(text: string): string | undefined {
  try {
    return JSON.parse(`"${text}"`);
  } catch {
    // No JSON has its line end: the prompt only looks like a conversation.
    return undefined;
  }
}
