import type { EventInput } from '../src/event/event.ts';

const words = 'The customer asks for a bike with a basket, and the agent answers. '.repeat(200);
let number = 0;

/**
 * An LLM event of about this many bytes, like an agent's: a system prompt, messages, tools and a response.
 */
export function benchEvent(bytes: number): EventInput {
  const part = words.slice(0, Math.max(0, (bytes - 900) / 4));
  return {
    type: 'llm',
    durationMs: 812,
    instrumentation: { source: 'openai', sourcePackage: 'bench', sourceFunction: 'chat.completions.create' },
    context: { threadId: 'thread-1', userId: 'user-1' },
    properties: {
      llm: {
        model: 'gpt-bench',
        input: {
          system: part,
          prompt: `Number ${++number}`,
          tools: [
            { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
          ],
          messages: [
            { role: 'system', content: part },
            { role: 'user', content: part },
          ],
        },
        output: { mode: 'text', response: part, toolCalls: [] },
        usage: { inputTokens: 1_200, outputTokens: 300, totalTokens: 1_500 },
        finishReason: 'stop',
      },
    },
  };
}
