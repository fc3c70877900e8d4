import { randomUUID } from 'node:crypto';

type Json = Record<string, unknown>;

/** A valid LLM event with a fresh id; `changes` replace its top-level fields. */
export function llmEvent(changes: Json = {}): Json {
  return {
    id: randomUUID(),
    type: 'llm',
    traceId: '7f1f6f0e-3c5b-4f60-9a51-0a5c0a6f8f11',
    startTimeMs: 1_760_000_000_000,
    endTimeMs: 1_760_000_001_250.5,
    durationMs: 1250.5,
    status: { state: 'ok' },
    instrumentation: { vendor: 'weir', source: 'openai', sourcePackage: 'openai' },
    context: { threadId: 'thread-1', userId: 'user-1' },
    additionalProperties: { plan: 'pro', seats: 3 },
    properties: {
      llm: {
        model: 'gpt-4o',
        input: { system: 'Be brief.', prompt: 'Hello', tools: [] },
        output: { mode: 'text', response: 'Hi!', toolCalls: [] },
        usage: { inputTokens: 12, outputTokens: 3, totalTokens: 15 },
      },
    },
    ...changes,
  };
}

/** A valid tool event with a fresh id; `changes` replace its top-level fields. */
export function toolEvent(changes: Json = {}): Json {
  return {
    ...llmEvent(),
    type: 'tool',
    properties: { tool: { name: 'get_weather', input: { city: 'Bern' }, output: '{"celsius": 21}' } },
    ...changes,
  };
}

/** As many valid events. */
export function someEvents(count: number): Json[] {
  return Array.from({ length: count }, () => llmEvent());
}

/** The event without one of its fields. */
export function without(event: Json, field: string): Json {
  const { [field]: _, ...rest } = event;
  return rest;
}
