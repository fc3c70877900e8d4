import type OpenAI from 'openai';
import { expectedToolCalls, text } from '../support/provider-bodies.ts';
import { collect, settle } from './observe.ts';
import type { Scenario } from './scenario.ts';

const messages = [{ role: 'user' as const, content: 'How warm is it?' }];
const ok = { state: 'ok', mode: 'text', response: text } as const;

/** The helpers; in version 4 they are in `beta`. */
function helpersOf(client: OpenAI): OpenAI['chat']['completions'] {
  const { completions } = client.chat;
  if (typeof completions.stream === 'function') return completions;
  return (client.beta as unknown as { chat: OpenAI['chat'] }).chat.completions;
}

const format = {
  type: 'json_schema' as const,
  json_schema: { name: 'city', schema: { type: 'object', properties: { city: { type: 'string' } } } },
};

/** Records the callbacks of a helper, in order. */
function record(
  stream: { on(event: never, listener: (...args: unknown[]) => void): unknown },
  events: string[],
) {
  const log: unknown[] = [];
  for (const event of events) {
    stream.on(event as never, (...args) => log.push([event, JSON.parse(JSON.stringify(args))]));
  }
  return log;
}

export const openaiHelperScenarios: Scenario<OpenAI>[] = [
  {
    name: 'chat.completions.parse',
    run: (client) =>
      settle(() => helpersOf(client).parse({ model: 'json', messages, response_format: format })),
    events: [{ state: 'ok', mode: 'json', response: '{"city":"Bern"}' }],
  },
  {
    name: 'chat.completions.stream',
    run: async (client) => {
      const stream = helpersOf(client).stream({ model: 'text', messages });
      const log = record(stream, ['content', 'chunk', 'finalContent', 'end']);
      return { final: await settle(() => stream.finalChatCompletion()), log };
    },
    events: [ok],
  },
  {
    name: 'chat.completions.stream, iterated',
    run: async (client) => collect(helpersOf(client).stream({ model: 'tools', messages })),
    events: [{ state: 'ok', toolCalls: expectedToolCalls }],
  },
  {
    name: 'chat.completions.stream, aborted',
    run: async (client) => {
      const stream = helpersOf(client).stream({ model: 'slow', messages });
      stream.on('content', () => stream.abort());
      return settle(() => stream.done());
    },
    events: [{ state: 'error', code: 'aborted' }],
  },
  {
    name: 'chat.completions.runTools',
    run: async (client) => {
      const calls: unknown[] = [];
      const tools = ['get_weather', 'get_rate'].map((name) => ({
        type: 'function' as const,
        function: {
          name,
          description: name,
          parameters: { type: 'object', properties: {} },
          function: (args: string) => {
            calls.push([name, args]);
            return 'Done.';
          },
        },
      }));
      const runner = helpersOf(client).runTools({ model: 'agent', messages, tools } as never);
      return { final: await settle(() => runner.finalContent()), calls };
    },
    events: [{ state: 'ok', mode: 'tool_calls' }, ok],
  },
  {
    name: 'responses.parse',
    run: (client) =>
      settle(() =>
        client.responses.parse({
          model: 'json',
          input: 'Hi',
          text: { format: { type: 'json_schema', name: 'city', schema: {} } },
        }),
      ),
    events: [{ state: 'ok', mode: 'json', response: '{"city":"Bern"}' }],
    isPossible: (client) => 'responses' in client,
  },
  {
    name: 'responses.stream',
    run: async (client) => {
      const stream = client.responses.stream({ model: 'text', input: 'Hi' });
      const log = record(stream as never, ['response.output_text.delta', 'response.completed']);
      return { final: await settle(() => stream.finalResponse()), log };
    },
    events: [ok],
    isPossible: (client) => 'responses' in client,
  },
];
