import { randomUUID } from 'node:crypto';

/** An event with the current time, as a client sends it. */
export interface SentEvent {
  id: string;
  traceId: string;
  startTimeMs: number;
}

export function toolEvent(changes: Record<string, unknown> = {}): SentEvent & Record<string, unknown> {
  return { ...common(), type: 'tool', properties: { tool: { name: 'search', input: {} } }, ...changes };
}

export function llmEvent(
  llm: Record<string, unknown>,
  changes: Record<string, unknown> = {},
): SentEvent & Record<string, unknown> {
  const properties = { llm: { model: 'model-1', input: {}, output: {}, usage: {}, ...llm } };
  return { ...common(), type: 'llm', properties, ...changes };
}

function common() {
  const endTimeMs = Date.now() - 1_000;
  return {
    id: randomUUID(),
    traceId: randomUUID(),
    startTimeMs: endTimeMs - 250,
    endTimeMs,
    durationMs: 250,
    status: { state: 'ok' },
    instrumentation: { vendor: 'weir', source: 'tests', sourcePackage: 'web' },
    context: {},
    additionalProperties: {},
  };
}
