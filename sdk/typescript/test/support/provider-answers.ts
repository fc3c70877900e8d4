import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { bodies } from './provider-bodies.ts';
import type { ProviderRequest } from './provider-request.ts';
import { chatWholeTools, streams } from './provider-streams.ts';

type Answer = (request: ProviderRequest) => Promise<void> | void;

/** The provider's responses, by the first word of the model's name. */
export const answers: Record<string, Answer> = {
  text: (request) => answer(request, 'text'),
  tools: (request) => answer(request, 'tools'),
  json: (request) => answer(request, 'json'),
  'whole-tools': ({ response, api }) => {
    startStream(response);
    response.end((api === 'chat' ? chatWholeTools : streams[api].tools).join(''));
  },
  // For agents: the first response calls two tools, the response after their results is text.
  agent: (request) => answer(request, hasToolResults(request) ? 'text' : 'tools'),
  crlf: (request) => send(request, (text) => [text.replaceAll('\n', '\r\n')]),
  // Sends single bytes, which splits characters and events.
  bytes: (request) => send(request, (text) => Buffer.from(text)),
  slow: async ({ response, api }) => {
    startStream(response);
    for (const event of streams[api].text.slice(0, 5)) response.write(event);
    // Wait until the caller disconnects.
    await once(response, 'close');
  },
  'no-end-mark': ({ response, api }) => {
    startStream(response);
    response.end(withoutEndMark(streams[api].text).join(''));
  },
  'cut-off': async ({ response, api }) => {
    startStream(response);
    await write(response, streams[api].text.slice(0, 5).join(''));
    response.destroy();
  },
  'error-in-stream': ({ response, api }) => {
    startStream(response);
    response.end([...streams[api].text.slice(0, 5), streamError(api)].join(''));
  },
  'rate-limited-once': (request) =>
    request.attempt === 0 ? sendError(request, 429) : answer(request, 'text'),
  'broken-once': (request) =>
    request.attempt === 0 ? void request.response.destroy() : answer(request, 'text'),
  'rate-limited': (request) => sendError(request, 429),
  'bad-request': (request) => sendError(request, 400),
  unavailable: (request) => sendError(request, 503),
  // The head of the response, and then nothing.
  'hang-in-body': async ({ response }) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    await write(response, '{"id":');
    await once(response, 'close');
  },
  hang: async ({ response }) => void (await once(response, 'close')),
};

function answer(request: ProviderRequest, kind: 'text' | 'tools' | 'json'): Promise<void> | void {
  const { response, api, body } = request;
  if (body.stream) return send(request, (text) => [text], kind);
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(bodies[api][kind]);
}

async function send(
  { response, api, body }: ProviderRequest,
  cut: (text: string) => Iterable<string | number>,
  kind: 'text' | 'tools' | 'json' = 'text',
): Promise<void> {
  startStream(response);
  const { include_usage: isUsageAsked } = (body.stream_options ?? {}) as { include_usage?: boolean };
  // Mistral always reports the usage.
  const isReported = isUsageAsked === true || /mistral/.test(response.req.headers['user-agent'] ?? '');
  for (const event of streams[api][kind]) {
    if (!isReported && event.includes('"choices":[]')) continue;
    for (const part of cut(event)) {
      await write(response, typeof part === 'number' ? Uint8Array.of(part) : part);
    }
  }
  response.end();
}

function startStream(response: ServerResponse): void {
  response.socket?.setNoDelay(true);
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
}

function write(response: ServerResponse, part: string | Uint8Array): Promise<void> {
  return new Promise((resolve) => response.write(part, () => resolve()));
}

function withoutEndMark(events: readonly string[]): string[] {
  return events.filter((event) => !event.includes('[DONE]') && !event.includes('message_stop'));
}

function streamError(api: ProviderRequest['api']): string {
  const error = { type: 'overloaded_error', message: 'Too many requests.' };
  if (api === 'chat' || api === 'gemini') return `data: ${JSON.stringify({ error })}\n\n`;
  if (api === 'ollama') return `${JSON.stringify({ error: error.message })}\n`;
  return `event: error\ndata: ${JSON.stringify({ type: 'error', code: 'overloaded_error', message: error.message, error })}\n\n`;
}

function sendError({ response, api }: ProviderRequest, status: number): void {
  const headers = { 'content-type': 'application/json', 'retry-after-ms': '1' };
  const type = status === 429 ? 'rate_limit_error' : status === 400 ? 'invalid_request_error' : 'api_error';
  const error = {
    type,
    message: `It is ${status}.`,
    ...(api !== 'messages' && { code: `code_${status}`, param: null }),
  };
  response.writeHead(status, headers);
  if (api === 'ollama') return void response.end(JSON.stringify({ error: error.message }));
  if (api === 'gemini')
    return void response.end(JSON.stringify({ error: { ...error, code: status, status: `CODE_${status}` } }));
  response.end(JSON.stringify(api === 'messages' ? { type: 'error', error } : { error }));
}

function hasToolResults({ body }: ProviderRequest): boolean {
  return /"role":"tool"|"tool_result"|"function_call_output"/.test(JSON.stringify(body));
}
