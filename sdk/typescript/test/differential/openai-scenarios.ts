import type OpenAI from 'openai';
import { expectedToolCalls, text } from '../support/provider-bodies.ts';
import { collect, describeResponse, type Observation, settle } from './observe.ts';
import type { Scenario } from './scenario.ts';

const messages = [
  { role: 'system' as const, content: 'Be brief.' },
  { role: 'user' as const, content: 'How warm is it?' },
];
const tools = ['get_weather', 'get_rate'].map((name) => ({
  type: 'function' as const,
  function: { name, parameters: { type: 'object', properties: {} } },
}));

const chat = (model: string, extra: object = {}) => ({ model, messages, ...extra });
const streaming = (model: string) => ({ ...chat(model), stream: true as const });

/** The first four chunks, of five characters each. */
const beginning = text.slice(0, 20);

const ok = { state: 'ok', sourceFunction: 'chat.completions.create', mode: 'text', response: text } as const;
const toolCall = { ...ok, mode: 'tool_calls', response: '', toolCalls: expectedToolCalls } as const;
const failed = { state: 'error' } as const;

async function breakAfter(stream: AsyncIterable<unknown>, count: number): Promise<number> {
  let seen = 0;
  for await (const _ of stream) if (++seen === count) break;
  return seen;
}

async function read(stream: ReadableStream<Uint8Array>): Promise<string> {
  return new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).text();
}

export const chatScenarios: Scenario<OpenAI>[] = [
  {
    name: 'create',
    run: (client) => settle(() => client.chat.completions.create(chat('text'))),
    events: [{ ...ok, totalTokens: 150 }],
  },
  {
    name: 'create with tool calls',
    run: (client) => settle(() => client.chat.completions.create(chat('tools', { tools }))),
    events: [toolCall],
  },
  {
    name: 'the returned promise is the SDK’s own',
    run: async (client) => {
      const promise = client.chat.completions.create(chat('text'));
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
        const { data, response, ...others } = await client.chat.completions
          .create(chat('text'))
          .withResponse();
        return { data, others, response: describeResponse(response) };
      }),
    events: [ok],
  },
  {
    name: 'asResponse, unread',
    run: async (client) => describeResponse(await client.chat.completions.create(chat('text')).asResponse()),
    events: [{ state: 'ok', response: undefined }],
  },
  {
    name: 'asResponse, read as text',
    run: async (client) => (await client.chat.completions.create(chat('text')).asResponse()).text(),
    events: [ok],
  },
  {
    name: 'asResponse of a stream, read as text',
    run: async (client) => (await client.chat.completions.create(streaming('text')).asResponse()).text(),
    events: [ok],
  },
  {
    name: 'stream',
    run: async (client) => collect(await client.chat.completions.create(streaming('text'))),
    events: [ok],
  },
  {
    name: 'stream with usage on the application’s request',
    run: async (client) =>
      collect(
        await client.chat.completions.create({
          ...streaming('text'),
          stream_options: { include_usage: true },
        }),
      ),
    events: [{ ...ok, totalTokens: 150 }],
  },
  {
    name: 'stream with tool calls',
    run: async (client) => collect(await client.chat.completions.create(streaming('tools'))),
    events: [toolCall],
  },
  {
    name: 'stream with withResponse',
    run: (client) =>
      settle(async () => {
        const { data, response } = await client.chat.completions.create(streaming('text')).withResponse();
        return { response: describeResponse(response), chunks: await collect(data) };
      }),
    events: [ok],
  },
  {
    name: 'stream, tee',
    run: async (client) => {
      const [left, right] = (await client.chat.completions.create(streaming('text'))).tee();
      return [await collect(left), await collect(right)];
    },
    events: [ok],
  },
  {
    name: 'stream, toReadableStream',
    run: async (client) => read((await client.chat.completions.create(streaming('text'))).toReadableStream()),
    events: [ok],
  },
  ...['crlf', 'bytes', 'no-end-mark'].map((model) => ({
    name: `stream: ${model}`,
    run: async (client: OpenAI) => collect(await client.chat.completions.create(streaming(model))),
    events: [ok],
  })),
  {
    name: 'stream, error in the middle',
    run: async (client) => collect(await client.chat.completions.create(streaming('error-in-stream'))),
    events: [{ state: 'error', code: 'overloaded_error', response: beginning }],
  },
  {
    name: 'stream, connection cut',
    run: async (client) => collect(await client.chat.completions.create(streaming('cut-off'))),
    events: [{ state: 'error', response: beginning }],
  },
  {
    name: 'stream, break',
    run: async (client) => breakAfter(await client.chat.completions.create(streaming('slow')), 2),
    events: [{ state: 'error', code: 'aborted' }],
  },
  {
    name: 'stream, abort by its controller',
    run: async (client) => {
      const stream = await client.chat.completions.create(streaming('slow'));
      return settle(async () => {
        for await (const _ of stream) stream.controller.abort();
      });
    },
    events: [{ state: 'error', code: 'aborted' }],
  },
  {
    name: 'abort by the caller’s signal before the response',
    run: async (client, provider) => {
      const controller = new AbortController();
      const settled = settle(() =>
        client.chat.completions.create(chat('hang'), { signal: controller.signal }),
      );
      await provider.nextRequest();
      controller.abort();
      return settled;
    },
    events: [{ state: 'error', code: 'aborted' }],
  },
  {
    name: 'time-out',
    isRace: true,
    run: (client) =>
      settle(() => client.chat.completions.create(chat('hang'), { timeout: 250, maxRetries: 0 })),
    events: [failed],
  },
  {
    name: 'time-outs with a retry are one event',
    isRace: true,
    run: (client) =>
      settle(() => client.chat.completions.create(chat('hang'), { timeout: 250, maxRetries: 1 })),
    events: [{ state: 'error', retries: 1 }],
  },
  ...['rate-limited-once', 'broken-once'].map((model) => ({
    name: `retry: ${model}`,
    run: (client: OpenAI) => settle(() => client.chat.completions.create(chat(model))),
    events: [{ ...ok, retries: 1 }],
  })),
  {
    name: 'retry of a stream',
    run: async (client) => collect(await client.chat.completions.create(streaming('rate-limited-once'))),
    events: [{ ...ok, retries: 1 }],
  },
  ...([
    ['rate-limited', 429, 2],
    ['unavailable', 503, 2],
    ['bad-request', 400, undefined],
  ].map(([model, httpStatus, retries]) => ({
    name: `error answer: ${model}`,
    run: (client: OpenAI) => settle(() => client.chat.completions.create(chat(String(model)))),
    events: [
      { state: 'error' as const, httpStatus: Number(httpStatus), code: `code_${httpStatus}`, retries },
    ],
  })) as Scenario<OpenAI>[]),
  {
    name: 'no retry wanted',
    run: (client) => settle(() => client.chat.completions.create(chat('rate-limited'), { maxRetries: 0 })),
    events: [{ state: 'error', httpStatus: 429, retries: undefined }],
  },
  {
    name: 'calls at the same time, each with a retry',
    run: (client) =>
      Promise.all(
        ['a', 'a', 'b'].map((name) =>
          settle(() => client.chat.completions.create(chat(`rate-limited-once:${name}`))),
        ),
      ),
    events: [1, 2, 3].map(() => ({ ...ok, retries: 1 })),
  },
  {
    name: 'models.list passes unchanged',
    run: (client) => settle(async () => (await client.models.list()).data),
    events: [],
  },
];

const hasResponses = (client: OpenAI) => 'responses' in client;
const okResponse = { ...ok, sourceFunction: 'responses.create', totalTokens: 150 } as const;

const responses: Scenario<OpenAI>[] = [
  {
    name: 'responses.create',
    run: (client: OpenAI): Promise<Observation> =>
      settle(() => client.responses.create({ model: 'text', input: 'Hi', instructions: 'Be brief.' })),
    events: [okResponse],
  },
  {
    name: 'responses.create with tool calls',
    run: (client: OpenAI) => settle(() => client.responses.create({ model: 'tools', input: 'Hi' })),
    events: [{ ...okResponse, mode: 'tool_calls', response: '', toolCalls: expectedToolCalls }],
  },
  ...['text', 'tools', 'crlf', 'bytes', 'no-end-mark'].map((model) => ({
    name: `responses stream: ${model}`,
    run: async (client: OpenAI) =>
      collect(await client.responses.create({ model, input: 'Hi', stream: true })),
    events: [model === 'tools' ? { state: 'ok' as const, toolCalls: expectedToolCalls } : okResponse],
  })),
  {
    name: 'responses stream, connection cut',
    run: async (client: OpenAI) =>
      collect(await client.responses.create({ model: 'cut-off', input: 'Hi', stream: true })),
    events: [failed],
  },
  {
    name: 'responses stream, error in the middle',
    run: async (client: OpenAI) =>
      collect(await client.responses.create({ model: 'error-in-stream', input: 'Hi', stream: true })),
    events: [{ state: 'error', code: 'overloaded_error' }],
  },
  {
    name: 'responses stream, break',
    run: async (client: OpenAI) =>
      breakAfter(await client.responses.create({ model: 'slow', input: 'Hi', stream: true }), 2),
    events: [{ state: 'error', code: 'aborted' }],
  },
];

export const responsesScenarios = responses.map((scenario) => ({ ...scenario, isPossible: hasResponses }));
