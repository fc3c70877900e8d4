import { expectedToolCalls, text } from '../support/provider-bodies.ts';
import { collect, settle } from './observe.ts';
import type { Scenario } from './scenario.ts';

/** What the tests use of a client, whatever its methods are called. */
export interface OtherClient {
  call(model: string, signal?: AbortSignal): Promise<unknown>;
  stream(model: string): Promise<AsyncIterable<unknown>>;
}

const ok = { state: 'ok', mode: 'text', response: text, totalTokens: 150 } as const;
const tools = { state: 'ok', mode: 'tool_calls', toolCalls: expectedToolCalls } as const;

const drain = (model: string) => async (client: OtherClient) =>
  settle(async () => collect(await client.stream(model)));

/** The uses of a client that has its own entry point of the SDK. */
export const otherScenarios: Scenario<OtherClient>[] = [
  { name: 'a call', run: (client) => settle(() => client.call('text')), events: [ok] },
  { name: 'tool calls', run: (client) => settle(() => client.call('tools')), events: [tools] },
  { name: 'a stream', run: drain('text'), events: [ok] },
  { name: 'a stream with tool calls', run: drain('whole-tools'), events: [tools] },
  {
    name: 'calls at the same time',
    run: (client) => Promise.all(['text', 'tools', 'text'].map((model) => settle(() => client.call(model)))),
    events: [ok, tools, ok],
  },
  {
    name: 'a stream that the application stops reading',
    run: async (client) => {
      const seen: unknown[] = [];
      for await (const chunk of await client.stream('slow')) {
        seen.push(JSON.parse(JSON.stringify(chunk)));
        break;
      }
      return seen;
    },
    // Mistral's client cancels the body; the others leave it, and the call is recorded at the end with what
    // was read.
    events: [{ mode: 'text', totalTokens: undefined }],
  },
  {
    name: 'a stream that is cut off',
    run: async (client) => {
      // Only the chunks: the error of the network is not the same each time.
      const chunks: unknown[] = [];
      try {
        for await (const chunk of await client.stream('cut-off')) chunks.push(JSON.stringify(chunk));
      } catch {
        return { chunks, failed: true };
      }
      return { chunks, failed: false };
    },
    events: [{ state: 'error' }],
  },
  {
    name: 'an error in the stream',
    run: drain('error-in-stream'),
    events: [{ state: 'error' }],
  },
  {
    name: 'a bad request',
    run: (client) => settle(() => client.call('bad-request')),
    events: [{ state: 'error', httpStatus: 400 }],
  },
  {
    name: 'a failure of the provider',
    run: (client) => settle(() => client.call('unavailable')),
    events: [{ state: 'error', httpStatus: 503 }],
  },
];
