import { readEventText } from '../event/event-text.ts';
import { indentJson } from './indent-json.ts';

/** The comparable parts of an event. */
export const comparedParts = {
  prompt: 'Prompt',
  response: 'Response',
  system: 'System',
  input: 'Input',
  output: 'Output',
  json: 'JSON',
} as const;

export type ComparedPart = keyof typeof comparedParts;

/** The parts of an event as texts. JSON is indented, each number and text as it was sent. */
export function readParts(event: string): Partial<Record<ComparedPart, string>> {
  const { llm, tool } = readEventText(event);
  return Object.fromEntries(
    Object.entries({
      prompt: llm?.prompt,
      response: llm?.response,
      system: llm?.system,
      input: tool?.input && indentIfJson(tool.input),
      output: tool?.output && indentIfJson(tool.output),
      json: indentJson(event),
    }).filter(([, text]) => text !== undefined),
  );
}

function indentIfJson(text: string): string {
  try {
    JSON.parse(text);
    return indentJson(text);
  } catch {
    return text;
  }
}
