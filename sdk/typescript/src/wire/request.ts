import { dropUndefined } from '../event/drop-undefined.ts';
import { JsonText } from '../event/json-text.ts';
import type { LlmRequest } from './adapter.ts';
import { sliceMembers } from './json-slice.ts';
import { asObject, asText, type Json } from './read.ts';

/** How the parts of a request are found in its body. */
export interface RequestParts {
  /** Default: the member `model`. */
  model?: string | undefined;
  system: string | undefined;
  prompt: string | undefined;
  /** The members that may hold the tools, and the one that holds the messages. */
  tools: readonly string[];
  messages: string;
  /** The object whose `type` asks for JSON. */
  format: unknown;
}

/** Composes a request from the text of its body. Lists keep their JSON text. Empty parts are omitted. */
export function composeRequest(text: string, read: (body: Json) => RequestParts): LlmRequest {
  const body = asObject(JSON.parse(text));
  const { system, prompt, tools, messages, format, model = asText(body.model) } = read(body);
  const members = sliceMembers(text);
  const listOf = (names: readonly string[]) => {
    const list = names.map((name) => members.get(name)).find((member) => member?.startsWith('['));
    return list === undefined ? undefined : new JsonText(list);
  };
  return {
    model,
    input: dropUndefined({
      system: system || undefined,
      prompt,
      tools: listOf(tools),
      messages: listOf([messages]),
    }),
    isJson: String(asObject(format).type).startsWith('json'),
  };
}
