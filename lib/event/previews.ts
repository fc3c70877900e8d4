import type { IngestEvent } from './event.ts';
import { previewCharsMax } from './limits.ts';
import { cutText } from './text.ts';
import { calledTool, calledWith } from './tool-calls.ts';

/** What lists show of an event's input: the beginning of the prompt, or of the tool's input. */
export function inputPreview(event: IngestEvent): string | undefined {
  return preview(event.type === 'llm' ? event.properties.llm.input?.prompt : event.properties.tool.input);
}

/** What lists show of an event's output. A model that calls tools often returns no text: then the calls are its output. */
export function outputPreview(event: IngestEvent): string | undefined {
  if (event.type === 'tool') return preview(event.properties.tool.output);
  const { response, toolCalls } = event.properties.llm.output ?? {};
  return response || !toolCalls?.length ? preview(response) : callsPreview(toolCalls);
}

/** Calls as in code, `get_weather({"city":"Bern"})`: in JSON, the name is often behind the arguments, and cut off. */
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
