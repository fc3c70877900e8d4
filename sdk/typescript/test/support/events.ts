import type { EventInput } from '../../src/event/event.ts';

/** An LLM event whose prompt has this many characters. */
export function llmEvent(prompt = 'Hi', extra: Partial<EventInput> = {}): EventInput {
  return {
    type: 'llm',
    durationMs: 12,
    instrumentation: { source: 'test', sourcePackage: 'test' },
    properties: { llm: { model: 'm', input: { prompt }, output: { mode: 'text', response: 'Hello.' } } },
    ...extra,
  };
}
