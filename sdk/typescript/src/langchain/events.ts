import type { EventError, EventInput } from '../event/event.ts';
import { JsonText } from '../event/json-text.ts';
import type { LlmAnswer, LlmRequest } from '../wire/adapter.ts';
import { composeLlm } from '../wire/llm.ts';
import { asObject } from '../wire/read.ts';
import { readAnswer } from './messages.ts';

/** What is known of a run at its start. */
export type RunData =
  | { kind: 'span' }
  | { kind: 'tool'; id: string; name: string; input: unknown; callId: unknown }
  | { kind: 'llm'; request: LlmRequest; source: string; firstTokenMs?: number };

export function composeModel(
  data: RunData & { kind: 'llm' },
  output: unknown,
  error: EventError | undefined,
): EventInput {
  const answer: LlmAnswer | undefined = output === undefined ? undefined : readAnswer(output);
  return {
    type: 'llm',
    status: error ? { state: 'error', error } : { state: 'ok' },
    instrumentation: { source: data.source, sourcePackage: 'langchain', sourceFunction: 'invoke' },
    properties: { llm: composeLlm(data.request, answer, { timeToFirstChunkMs: data.firstTokenMs }) },
  };
}

export function composeTool(
  { id, name, input, callId }: RunData & { kind: 'tool' },
  output: unknown,
  error: EventError | undefined,
): EventInput {
  // A tool that an agent called returns a message with its result.
  const { content, tool_call_id: messageCallId, status } = asObject(output);
  const isMessage = messageCallId !== undefined;
  const result = isMessage ? content : output;
  const own = isMessage && status === 'error' ? { message: String(content) } : undefined;
  const fault = error ?? own;
  return {
    id,
    type: 'tool',
    status: fault ? { state: 'error', error: fault } : { state: 'ok' },
    instrumentation: { source: name, sourcePackage: 'langchain', sourceFunction: 'tool' },
    properties: {
      tool: {
        name,
        input,
        ...((messageCallId ?? callId) !== undefined && { callId: messageCallId ?? callId }),
        ...(fault === undefined && result !== undefined && { output: result }),
      },
    },
  };
}

/** The arguments of a tool, which LangChain reports as JSON. */
export function readInput(text: string): unknown {
  try {
    return typeof JSON.parse(text) === 'object' ? new JsonText(text) : text;
  } catch {
    return text;
  }
}
