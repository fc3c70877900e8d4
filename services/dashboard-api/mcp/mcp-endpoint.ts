import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import type { McpServer } from '@modelcontextprotocol/server';
import { getTRPCErrorFromUnknown, TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import { wellFormedJson } from '../../../event/text.ts';
import type { AnswerAfterBody } from '../../../platform/http/unread-body.ts';
import type { Logger } from '../../../platform/log.ts';
import { TimeoutError, withTimeout } from '../../../platform/timeout.ts';
import { type Caller, requireRole } from '../access.ts';
import { dashboardBodyBytesMax, dashboardCallTimeoutMs } from '../limits.ts';
import { refusal } from '../refusal.ts';
import { logFailure } from '../request-log.ts';
import { appRouter } from '../router.ts';
import { tokenMetadataPath } from '../sso/access-tokens.ts';
import type { Sso } from '../sso/sso-routes.ts';
import { type Context, openContext, type Services } from '../trpc/context.ts';
import { classifyFailure, publicMessage, unavailable } from '../trpc/failure.ts';
import { type CallRequest, readRequest } from '../trpc/request.ts';
import { mcpTimeoutMs } from './limits.ts';
import { createMcpServer } from './mcp-server.ts';

export const mcpPath = '/mcp';

const version = '1';

export interface McpDependencies {
  services: Services;
  answerAfterBody: AnswerAfterBody;
  publicUrl: string | undefined;
  /** Whose access tokens are accepted beside read keys; undefined without an OpenID provider. */
  sso?: Sso | undefined;
  log: Logger;
}

/**
 * `POST /mcp`: MCP over streamable HTTP, without sessions and streams, for read keys and for access tokens of
 * the OpenID provider, at `/mcp/SPACE` for people of several spaces. No cookies: a page of another site could
 * use them.
 */
export async function answerMcp(
  dependencies: McpDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { services, answerAfterBody, publicUrl, sso, log } = dependencies;
  const asked = readRequest(request, response, services.findAddress);
  const note = (error: TRPCError, name = mcpPath) => logFailure(log, name, { error, sender: asked.sender });
  try {
    if (!isAllowedOrigin(request, publicUrl))
      throw refusal('FORBIDDEN', 'This request comes from another site.');
    const body = await readBody(request);
    refuseBatch(body);
    const left = new AbortController();
    response.once('close', () => left.abort());
    const { context, user } = await openCaller(dependencies, request, asked);
    const { spaceId } = requireRole(user, { spaceId: spaceOf(request), least: 'viewer' });
    const call = appRouter.createCaller(context, { signal: left.signal });
    const server = await createMcpServer(
      { call, spaceId },
      { version, onFailure: (error, name) => note(error, `mcp ${name}`) },
    );
    const answer = await answerOf(server, toWebRequest(request, body));
    response
      .writeHead(answer.status, { ...headers, ...contentType(answer) })
      .end(wellFormedJson(await answer.text()));
  } catch (thrown) {
    const error = classifyFailure(getTRPCErrorFromUnknown(thrown));
    note(error);
    answerAfterBody(request, response, () => sendFailure(response, error, sso)).catch(() =>
      request.destroy(),
    );
  }
}

/** @throws TRPCError UNAUTHORIZED without a good read key or access token. */
async function openCaller(
  { services, sso }: McpDependencies,
  request: IncomingMessage,
  asked: CallRequest,
): Promise<{ context: Context; user: Caller }> {
  const context = openContext(services, { ...asked, token: undefined });
  if (asked.readKey !== undefined) return { context, user: await context.findReadKey() };
  const [, token] = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
  if (sso === undefined || token === undefined) throw noKey();
  const user = await sso.findTokenUser(token, spaceOf(request));
  if (user === undefined)
    throw refusal('UNAUTHORIZED', 'The access token was not issued for this resource, or has expired.');
  asked.sender.userId = user.userId;
  return {
    context: { ...context, request: { ...context.request, readKey: token }, findReadKey: async () => user },
    user,
  };
}

/** The space of `/mcp/SPACE`. */
function spaceOf({ url = '' }: IncomingMessage): string | undefined {
  return /^\/mcp\/([^/?]+)/.exec(url)?.[1]?.toLowerCase();
}

/**
 * Answers both kinds of requests: since 2026-07-28 each names its revision and its client; older ones begin
 * with `initialize`. @throws TRPCError SERVICE_UNAVAILABLE when the server has no answer in time.
 */
async function answerOf(server: McpServer, request: Request): Promise<Response> {
  const { createMcpHandler, isLegacyRequest, WebStandardStreamableHTTPServerTransport } = await import(
    '@modelcontextprotocol/server'
  );
  const answer = async () => {
    // What can be listed never changes: nobody needs to wait for news.
    const handler = createMcpHandler(() => server, { legacy: 'reject', maxSubscriptions: 0 });
    if (!(await isLegacyRequest(request))) return handler.fetch(request);
    // Without sessionIdGenerator the transport has no sessions.
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport);
    return transport.handleRequest(request);
  };
  try {
    return await withTimeout(mcpTimeoutMs, answer()).catch((late: unknown) => {
      throw unavailable(late);
    });
  } finally {
    await server.close();
  }
}

/** Responses hold the content of events. */
const headers = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' } as const;

function contentType(answer: Response): Record<string, string> {
  const type = answer.headers.get('content-type');
  return type === null ? {} : { 'Content-Type': type };
}

function sendFailure(response: ServerResponse, error: TRPCError, sso: Sso | undefined): void {
  const status = getHTTPStatusCodeFromError(error);
  const where = sso === undefined ? '' : `, resource_metadata="${sso.publicUrl}${tokenMetadataPath}"`;
  const challenge = status === 401 ? { 'WWW-Authenticate': `Bearer realm="weir"${where}` } : {};
  const body = { jsonrpc: '2.0', id: null, error: { code: -32_000, message: publicMessage(error) } };
  response
    .writeHead(status, { ...headers, ...challenge, 'Content-Type': 'application/json' })
    .end(wellFormedJson(JSON.stringify(body)));
}

function noKey(): TRPCError {
  const message = 'Send a read key: Authorization: Bearer weir_read_…';
  return refusal('UNAUTHORIZED', message);
}

/**
 * Newer versions have no batches, and one could cancel its own request, which then has no answer.
 * @throws TRPCError BAD_REQUEST
 */
function refuseBatch(body: Buffer): void {
  // As the transport decodes it: without a byte order mark.
  if (!/^\s*\[/.test(new TextDecoder().decode(body))) return;
  throw refusal('BAD_REQUEST', 'Send one message in a request, not a batch.');
}

/** @throws TRPCError PAYLOAD_TOO_LARGE, TIMEOUT, or CLIENT_CLOSED_REQUEST when the client leaves. */
async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const read = async () => {
    // The rest of a body that is too long is discarded by answerAfterBody.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > dashboardBodyBytesMax) {
        const message = `The body is longer than ${dashboardBodyBytesMax} bytes.`;
        throw refusal('PAYLOAD_TOO_LARGE', message);
      }
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  };
  return withTimeout(dashboardCallTimeoutMs, read()).catch((cause: unknown) => {
    if (cause instanceof TRPCError) throw cause;
    throw cause instanceof TimeoutError
      ? refusal('TIMEOUT', 'The body did not arrive in time.', cause)
      : refusal('CLIENT_CLOSED_REQUEST', 'The client disconnected.', cause);
  });
}

function toWebRequest({ headers: given }: IncomingMessage, body: Buffer): Request {
  const kept = Object.entries(given).flatMap(([name, value]): [string, string][] =>
    value !== undefined && readHeader.test(name) ? [[name, String(value)]] : [],
  );
  return new Request(`http://localhost${mcpPath}`, {
    method: 'POST',
    headers: kept,
    body: new Uint8Array(body),
  });
}

const readHeader = /^(accept|content-type|mcp-.*)$/;

/**
 * The dashboard's own origin, or none, as programs send it. Without DASHBOARD_PUBLIC_URL the own host counts
 * only as an address or localhost: a page could let its server's name point here (DNS rebinding).
 */
function isAllowedOrigin({ headers }: IncomingMessage, publicUrl: string | undefined): boolean {
  const { origin } = headers;
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  const sent = new URL(origin);
  if (publicUrl !== undefined) return sent.origin === new URL(publicUrl).origin;
  const host = headers[':authority']?.toString() ?? headers.host;
  const isFixed = sent.hostname === 'localhost' || isIP(sent.hostname.replaceAll(/[[\]]/g, '')) !== 0;
  return isFixed && sent.host === host?.toLowerCase();
}
