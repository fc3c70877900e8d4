import type { IngestEvent } from './event.ts';
import { lastUserText } from './json/last-user-text.ts';
import { previewCharsMax } from './limits.ts';
import { cutText } from './text.ts';
import { calledTool, calledWith } from './tool-calls.ts';

/** The preview of an event's input: of a conversation its user's last text, else the start of the input. */
export function inputPreview(event: IngestEvent): string | undefined {
  if (event.type === 'tool') return preview(event.properties.tool.input);
  const { prompt } = event.properties.llm.input ?? {};
  return preview((prompt && lastUserText(prompt, previewCharsMax)) ?? prompt);
}

/** The text, or the tool calls of a model that returned no text. */
export function outputPreview(event: IngestEvent): string | undefined {
  if (event.type === 'tool') return preview(event.properties.tool.output);
  const { response, toolCalls } = event.properties.llm.output ?? {};
  return response || !toolCalls?.length ? preview(response) : callsPreview(toolCalls);
}

/** Formats calls like code, `get_weather({"city":"Bern"})`: a name behind arguments would be cut off. */
function callsPreview(calls: readonly unknown[]): string | undefined {
  let text = '';
  for (const call of calls) {
    if (text.length >= previewCharsMax) break;
    const name = calledTool(call);
    const shown = name === undefined ? preview(call) : `${name}(${preview(calledWith(call)) ?? ''})`;
    text += `${text === '' ? '' : ', '}${shown ?? ''}`;
  }
  return cutText(text, previewCharsMax);
}

function preview(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return cutText(typeof value === 'string' ? value : JSON.stringify(value), previewCharsMax);
}
