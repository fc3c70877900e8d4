import type { IncomingMessage, ServerResponse } from 'node:http';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { getTRPCErrorFromUnknown, TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import type { Logger } from '../../../lib/log.ts';
import { withTimeout } from '../../../lib/timeout.ts';
import { dashboardBodyBytesMax, dashboardCallTimeoutMs } from '../limits.ts';
import { logFailure } from '../request-log.ts';
import { appRouter } from '../router.ts';
import { openContext, type Services } from '../trpc/context.ts';
import { classifyFailure, unavailable } from '../trpc/failure.ts';
import { publicMessage } from '../trpc/public-message.ts';
import { readRequest } from '../trpc/request.ts';
import { mcpTimeoutMs } from './limits.ts';
import { createMcpServer } from './mcp-server.ts';
import { isAllowedOrigin } from './origin.ts';

export const mcpPath = '/mcp';

/** What MCP clients show. */
const version = '1';

export interface McpDependencies {
  services: Services;
  publicUrl: string | undefined;
  log: Logger;
}

/**
 * `POST /mcp`: the Model Context Protocol over streamable HTTP, without sessions and streams, for read keys. A cookie is not accepted: a page
 * of another site could use it.
 */
export async function answerMcp(
  { services, publicUrl, log }: McpDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const left = new AbortController();
  response.once('close', () => left.abort());
  const asked = readRequest(request, response, services.findAddress);
  try {
    if (!isAllowedOrigin(request, publicUrl))
      throw new TRPCError({ code: 'FORBIDDEN', message: 'This request comes from another site.' });
    const body = await withTimeout(dashboardCallTimeoutMs, readBody(request));
    const context = openContext(services, { ...asked, token: undefined });
    if (asked.readKey === undefined)
      throw new TRPCError({
        code: 'UNAUTHORIZED',
        message: 'Send a read key: Authorization: Bearer weir_read_…',
      });
    const { currentSpaceId } = await context.findReadKey();
    const call = appRouter.createCaller(context, { signal: left.signal });
    const server = createMcpServer(
      { call, spaceId: currentSpaceId ?? '' },
      {
        version,
        onFailure: (error, name) => logFailure(log, `mcp ${name}`, { error, sender: asked.sender }),
      },
    );
    // Without sessionIdGenerator the transport has no sessions.
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport);
    try {
      const answered = transport.handleRequest(toWebRequest(request, body));
      const answer = await withTimeout(mcpTimeoutMs, answered).catch((late: unknown) => {
        throw unavailable(late);
      });
      response.writeHead(answer.status, { ...headers, ...contentType(answer) }).end(await answer.text());
    } finally {
      await server.close();
    }
  } catch (thrown) {
    if (!response.destroyed)
      sendFailure(response, thrown, (error) => logFailure(log, mcpPath, { error, sender: asked.sender }));
  }
}

/** Responses hold the content of events. */
const headers = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' } as const;

function contentType(answer: Response): Record<string, string> {
  const type = answer.headers.get('content-type');
  return type === null ? {} : { 'Content-Type': type };
}

function sendFailure(response: ServerResponse, thrown: unknown, note: (error: TRPCError) => void): void {
  const error = classifyFailure(getTRPCErrorFromUnknown(thrown));
  note(error);
  const status = getHTTPStatusCodeFromError(error);
  const challenge = status === 401 ? { 'WWW-Authenticate': 'Bearer realm="weir"' } : {};
  const body = { jsonrpc: '2.0', id: null, error: { code: -32_000, message: publicMessage(error) } };
  // The rest of a body that is too long is not read.
  const closing = status === 413 && response.req.httpVersionMajor === 1 ? { Connection: 'close' } : {};
  response
    .writeHead(status, { ...headers, ...challenge, ...closing, 'Content-Type': 'application/json' })
    .end(JSON.stringify(body));
}

/** @throws TRPCError PAYLOAD_TOO_LARGE */
async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > dashboardBodyBytesMax) {
      const message = `The body is longer than ${dashboardBodyBytesMax} bytes.`;
      throw new TRPCError({ code: 'PAYLOAD_TOO_LARGE', message });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The headers that the transport reads. */
const readHeaders = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-session-id'];

function toWebRequest({ headers: given }: IncomingMessage, body: Buffer): Request {
  const kept = readHeaders.flatMap((name): [string, string][] =>
    given[name] === undefined ? [] : [[name, String(given[name])]],
  );
  return new Request(`http://localhost${mcpPath}`, {
    method: 'POST',
    headers: kept,
    body: new Uint8Array(body),
  });
}
