import type Anthropic from '@anthropic-ai/sdk';
import { expectedToolCalls, text } from '../support/provider-bodies.ts';
import { collect, describeResponse, settle } from './observe.ts';
import type { Scenario } from './scenario.ts';

const request = (model: string, extra: object = {}) => ({
  model,
  max_tokens: 100,
  system: 'Be brief.',
  messages: [{ role: 'user' as const, content: 'How warm is it?' }],
  ...extra,
});
const streaming = (model: string) => ({ ...request(model), stream: true as const });

const ok = { state: 'ok', sourceFunction: 'messages.create', mode: 'text', response: text } as const;
const toolCall = {
  ...ok,
  mode: 'tool_calls',
  response: 'Let me see.',
  toolCalls: expectedToolCalls,
} as const;

export const messagesScenarios: Scenario<Anthropic>[] = [
  {
    name: 'create',
    run: (client) => settle(() => client.messages.create(request('text'))),
    events: [{ ...ok, totalTokens: 150 }],
  },
  {
    name: 'create with tool calls',
    run: (client) => settle(() => client.messages.create(request('tools'))),
    events: [toolCall],
  },
  {
    name: 'the returned promise is the SDK’s own',
    run: async (client) => {
      const promise = client.messages.create(request('text'));
      const shape = [promise.constructor.name, typeof promise.withResponse, typeof promise.asResponse];
      await promise;
      return shape;
    },
    events: [ok],
  },
  {
    name: 'withResponse',
    run: (client) =>
      settle(async () => {
        const { data, response, ...others } = await client.messages.create(request('text')).withResponse();
        return { data, others, response: describeResponse(response) };
      }),
    events: [ok],
  },
  {
    name: 'asResponse, unread',
    run: async (client) => describeResponse(await client.messages.create(request('text')).asResponse()),
    events: [{ state: 'ok' }],
  },
  {
    name: 'asResponse of a stream, read as text',
    run: async (client) => (await client.messages.create(streaming('text')).asResponse()).text(),
    events: [ok],
  },
  ...['text', 'tools', 'crlf', 'bytes', 'no-end-mark'].map(
    (model): Scenario<Anthropic> => ({
      name: `stream: ${model}`,
      run: async (client) => collect(await client.messages.create(streaming(model))),
      events: [model === 'tools' ? toolCall : model === 'no-end-mark' ? { response: text } : ok],
    }),
  ),
  {
    name: 'stream, tee',
    run: async (client) => {
      const [left, right] = (await client.messages.create(streaming('text'))).tee();
      return [await collect(left), await collect(right)];
    },
    events: [ok],
  },
  {
    name: 'stream, error in the middle',
    run: async (client) => collect(await client.messages.create(streaming('error-in-stream'))),
    events: [{ state: 'error', code: 'overloaded_error' }],
  },
  {
    name: 'stream, connection cut',
    run: async (client) => collect(await client.messages.create(streaming('cut-off'))),
    events: [{ state: 'error' }],
  },
  {
    name: 'stream, break',
    run: async (client) => {
      for await (const _ of await client.messages.create(streaming('slow'))) break;
    },
    events: [{ state: 'error', code: 'aborted' }],
  },
  {
    name: 'abort by the caller’s signal before the response',
    run: async (client, provider) => {
      const controller = new AbortController();
      const settled = settle(() => client.messages.create(request('hang'), { signal: controller.signal }));
      await provider.nextRequest();
      controller.abort();
      return settled;
    },
    events: [{ state: 'error', code: 'aborted' }],
  },
  {
    name: 'time-outs with a retry are one event',
    isRace: true,
    run: (client) => settle(() => client.messages.create(request('hang'), { timeout: 250, maxRetries: 1 })),
    events: [{ state: 'error', retries: 1 }],
  },
  ...['rate-limited-once', 'broken-once'].map(
    (model): Scenario<Anthropic> => ({
      name: `retry: ${model}`,
      run: (client) => settle(() => client.messages.create(request(model))),
      events: [{ ...ok, retries: 1 }],
    }),
  ),
  ...(
    [
      ['rate-limited', 429, 'rate_limit_error', 2],
      ['unavailable', 503, 'api_error', 2],
      ['bad-request', 400, 'invalid_request_error', undefined],
    ] as const
  ).map(
    ([model, httpStatus, code, retries]): Scenario<Anthropic> => ({
      name: `error answer: ${model}`,
      run: (client) => settle(() => client.messages.create(request(model))),
      events: [{ state: 'error', httpStatus, code, retries }],
    }),
  ),
  {
    name: 'messages.stream with its callbacks',
    run: async (client) => {
      const stream = client.messages.stream(request('text'));
      const log: unknown[] = [];
      stream.on('text', (delta, snapshot) => log.push(['text', delta, snapshot]));
      stream.on('streamEvent', ({ type }) => log.push(type));
      stream.on('end', () => log.push('end'));
      return { final: await settle(() => stream.finalMessage()), text: await stream.finalText(), log };
    },
    events: [ok],
  },
  {
    name: 'messages.stream, iterated',
    run: async (client) => collect(client.messages.stream(request('tools'))),
    events: [toolCall],
  },
  {
    name: 'messages.stream, aborted',
    run: async (client) => {
      const stream = client.messages.stream(request('slow'));
      stream.on('text', () => stream.abort());
      return settle(() => stream.done());
    },
    events: [{ state: 'error', code: 'aborted' }],
  },
  {
    name: 'messages.parse',
    run: (client) =>
      settle(() =>
        client.messages.parse(
          request('json', {
            output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
          }) as never,
        ),
      ),
    events: [{ state: 'ok', mode: 'json', response: '{"city":"Bern"}' }],
    isPossible: (client) => typeof client.messages.parse === 'function',
  },
  {
    name: 'beta.messages.toolRunner',
    run: async (client) => {
      const calls: unknown[] = [];
      const tools = ['get_weather', 'get_rate'].map((name) => ({
        name,
        input_schema: { type: 'object', properties: {} },
        run: (input: unknown) => {
          calls.push([name, input]);
          return 'Done.';
        },
        parse: (input: unknown) => input,
      }));
      const runner = client.beta.messages.toolRunner({ ...request('agent'), tools } as never);
      return { final: await settle(() => runner as unknown as Promise<unknown>), calls };
    },
    events: [{ state: 'ok', mode: 'tool_calls' }, ok],
    isPossible: (client) => typeof client.beta.messages.toolRunner === 'function',
  },
  {
    name: 'models.list passes unchanged',
    run: (client) => settle(async () => (await client.models.list()).data),
    events: [],
  },
];
