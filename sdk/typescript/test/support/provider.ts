import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { answers } from './provider-answers.ts';
import type { ProviderRequest } from './provider-request.ts';

export interface Provider extends AsyncDisposable {
  readonly url: string;
  /** The received requests. */
  readonly requests: { path: string; text: string; headers: IncomingMessage['headers'] }[];
}

const apis = {
  '/chat/completions': 'chat',
  '/responses': 'responses',
  '/messages': 'messages',
  ':generateContent': 'gemini',
  ':streamGenerateContent': 'gemini',
  '/api/chat': 'ollama',
} as const;

/**
 * A provider on loopback that implements the APIs of all providers. The model's name chooses the response:
 * `provider-answers.ts`.
 *
 * @param fallback the name for models that have no response. Default: such a request fails.
 */
export async function startProvider({ fallback = '' } = {}): Promise<Provider> {
  const requests: Provider['requests'] = [];
  const server = createServer(async (request, response) => {
    const text = (await buffer(request).catch(() => Buffer.alloc(0))).toString();
    const path = new URL(request.url ?? '/', 'http://provider').pathname;
    requests.push({ path, text, headers: request.headers });
    if (path.endsWith('/models')) return answerModels(response);
    const api = Object.entries(apis).find(([end]) => path.endsWith(end))?.[1];
    const body = readBody(text, path);
    const answer = answers[body.model?.split(':')[0] ?? ''] ?? answers[fallback];
    if (api === undefined || answer === undefined) return void response.writeHead(404).end('{}');
    const attempt = Number(request.headers['x-stainless-retry-count'] ?? 0);
    response.setHeader(api === 'messages' ? 'request-id' : 'x-request-id', 'req_1');
    await answer({ api, body, attempt, response });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}

function answerModels(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end('{"object":"list","data":[{"id":"text","object":"model"}],"has_more":false}');
}

/** Gemini's paths have the model, and whether the response is a stream. */
function readBody(text: string, path: string): ProviderRequest['body'] {
  try {
    const [, model, method] = /\/models\/([^:]+):(\w+)$/.exec(path) ?? [];
    return { ...JSON.parse(text), ...(model && { model, stream: method === 'streamGenerateContent' }) };
  } catch {
    return { model: '' };
  }
}
