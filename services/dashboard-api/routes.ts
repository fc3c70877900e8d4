import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createHTTPHandler } from '@trpc/server/adapters/standalone';
import { ConnectionShares } from '../../platform/http/connection-shares.ts';
import { findHttpFault } from '../../platform/http/http-fault.ts';
import type { AnswerAfterBody } from '../../platform/http/unread-body.ts';
import type { Logger } from '../../platform/log.ts';
import type { FindUnready } from '../../platform/readiness.ts';
import { auditPath, sendAuditLog } from './downloads/audit.ts';
import { exportPath, sendExport } from './downloads/export.ts';
import { downloadLimits } from './downloads/limits.ts';
import { rawEvent, sendWholeFile, uploadedMedia } from './downloads/whole-file.ts';
import { FairSlots } from './fair-slots.ts';
import { dashboardBodyBytesMax, dashboardCallsMax, dashboardSocketsMax } from './limits.ts';
import { answerMcp, mcpPath } from './mcp/mcp-endpoint.ts';
import { describeReads, openApiPath } from './openapi/document.ts';
import { holderOf, logFailure, logRequest } from './request-log.ts';
import { appRouter } from './router.ts';
import { describeTokens, tokenMetadataPath } from './sso/access-tokens.ts';
import { createSsoRoutes, type Sso } from './sso/sso-routes.ts';
import { openContext, type Services } from './trpc/context.ts';
import { readRequest } from './trpc/request.ts';
import type { UnreadResponses } from './unread-responses.ts';
import { findWebFile, sendWebFile } from './web/send-web-file.ts';
import type { WebFile } from './web/web-files.ts';

export interface RouteDependencies {
  services: Services;
  findUnready: FindUnready;
  answerAfterBody: AnswerAfterBody;
  /** Bounds what clients leave unread. */
  unread: UnreadResponses;
  /** The built pages by path; undefined when only the API is served. */
  web?: ReadonlyMap<string, WebFile> | undefined;
  ingestUrl: string;
  publicUrl: string | undefined;
  basePath: string;
  /** Undefined without an OpenID provider. */
  sso?: Sso | undefined;
  log: Logger;
}

interface Route {
  methods: readonly string[];
  handle: RequestListener;
}

const trpcPath = '/trpc/';

const reading: readonly string[] = ['GET', 'HEAD'];

/** JSON and OTLP over HTTP, Connect and gRPC. */
const ingestPaths = /^\/(v1|weir\.ingest\.v1\.|opentelemetry\.proto\.)/;

/** One year, without subdomains, because they may not have TLS. */
const strictTransport = 'max-age=31536000';

/**
 * tRPC under /trpc/ and its description at /openapi.json, MCP at /mcp and /mcp/SPACE, downloads under /raw/,
 * /media/, /export/ and /audit/, /healthz and /readyz, the pages at other paths: 404 or 405 without pages.
 */
export function createRoutes(dependencies: RouteDependencies): RequestListener {
  const { answerAfterBody, unread, ingestUrl, basePath } = dependencies;
  const findRoute = createTable(dependencies);
  const connections = new ConnectionShares(dashboardSocketsMax);
  const isHttps = dependencies.publicUrl?.startsWith('https:') === true;
  return (request, response) => {
    unread.add(request, response);
    const address = request.socket.remoteAddress ?? '';
    response.once('close', () => connections.note(request, holderOf(response) ?? address));
    request.url = withoutBase(request, basePath);
    if (isHttps) {
      response.setHeader('Strict-Transport-Security', strictTransport);
      // Browsers use TLS even if a proxy does not say so, so session cookies must be Secure.
      request.headers['x-forwarded-proto'] = 'https';
    }
    // nghttp2 validates HTTP/2 requests.
    const fault = request.httpVersionMajor === 1 ? findHttpFault(request) : undefined;
    const path = pathOf(request);
    const route = findRoute(path, request);
    const isMethod = route?.methods.includes(request.method ?? '');
    if (fault === undefined && isMethod) return route?.handle(request, response);
    const reject = () => {
      if (fault !== undefined) return sendText(response, 400, `The request is not valid HTTP: ${fault}.`);
      if (route === undefined && ingestPaths.test(path)) return sendToIngest(response, ingestUrl);
      if (route === undefined) return sendText(response, 404, 'There is nothing at this path.');
      const allowed = route.methods.join(', ');
      response.setHeader('Allow', allowed);
      sendText(response, 405, `This path only accepts ${allowed}.`);
    };
    answerAfterBody(request, response, reject).catch(() => request.destroy());
  };
}

type FindRoute = (path: string, request: IncomingMessage) => Route | undefined;

/** All routes: trees by the start of a path, the others by the whole path, and the pages. */
function createTable(dependencies: RouteDependencies): FindRoute {
  const { findUnready, sso, log, web } = dependencies;
  const downloads = { ...dependencies, slots: new FairSlots(downloadLimits) };
  const logged = (methods: readonly string[], handle: RequestListener): Route => ({
    methods,
    handle: (request, response) => {
      // Without the query, which has the code of an OpenID provider, or a filter.
      logRequest(log, { method: request.method, path: pathOf(request) }, response);
      handle(request, response);
    },
  });
  const mcp = logged(['POST'], (...call) => void answerMcp(dependencies, ...call));
  const trees: [string, Route][] = [
    [trpcPath, { methods: ['GET', 'HEAD', 'POST'], handle: createTrpcHandler(dependencies) }],
    [`${mcpPath}/`, mcp],
    ...[rawEvent, uploadedMedia].map((file): [string, Route] => [
      file.path,
      logged(reading, (request, response) => void sendWholeFile(file, { ...downloads, request, response })),
    ]),
    [auditPath, logged(reading, (...call) => void sendAuditLog(downloads, ...call))],
    [exportPath, logged(['GET'], (...call) => void sendExport(downloads, ...call))],
  ];
  if (sso !== undefined) {
    const about = JSON.stringify(describeTokens(sso.issuer, sso.publicUrl));
    trees.push([tokenMetadataPath, { methods: reading, handle: (_, response) => sendJson(response, about) }]);
  }
  const ssoPaths = sso === undefined ? {} : createSsoRoutes(sso, log);
  const paths = new Map<string, Route>([
    ...Object.entries(ssoPaths).map(([path, handle]) => [path, logged(['GET'], handle)] as const),
    [mcpPath, mcp],
    [openApiPath, { methods: reading, handle: createDescriptionHandler() }],
    // Liveness does not depend on Postgres: a restart would not help.
    ['/healthz', { methods: reading, handle: (_, response) => sendText(response, 200, 'ok') }],
    ['/readyz', { methods: reading, handle: (_, response) => void sendReadiness(findUnready, response) }],
  ]);
  return (path, request) =>
    trees.find(([prefix]) => path.startsWith(prefix))?.[1] ?? paths.get(path) ?? findPage(web, request);
}

function findPage(web: RouteDependencies['web'], request: IncomingMessage): Route | undefined {
  if (web === undefined || !reading.includes(request.method ?? '')) return undefined;
  const file = findWebFile(web, { path: pathOf(request), accept: request.headers.accept });
  return file && { methods: reading, handle: (...call) => sendWebFile(file, ...call) };
}

function createTrpcHandler({ services, log }: RouteDependencies): RequestListener {
  const answerTrpc = createHTTPHandler({
    router: appRouter,
    basePath: trpcPath,
    maxBodySize: dashboardBodyBytesMax,
    maxBatchSize: dashboardCallsMax,
    // The pages send queries as POST bodies: proxies log URLs, and browsers keep them in their history.
    allowMethodOverride: true,
    createContext: ({ req, res }) => openContext(services, readRequest(req, res, services.findAddress)),
    // tRPC's default would let caches store a live stream.
    responseMeta: ({ type }) =>
      type === 'subscription' ? { headers: { 'cache-control': 'no-store, no-transform' } } : {},
    onError: ({ error, path, ctx }) => logFailure(log, path, { error, sender: ctx?.request.sender }),
  });
  return (request, response) => {
    logRequest(log, { method: request.method, path: pathOf(request) }, response);
    // Responses hold the content of events: no cache may store them, and no browser may guess their type.
    response.setHeader('Cache-Control', 'no-store');
    response.setHeader('X-Content-Type-Options', 'nosniff');
    if (request.httpVersionMajor > 1) dropConnectionHeader(response);
    // Only GET opens a stream. The body of another request may take as long as its sender likes.
    if (request.method !== 'GET' || pathOf(request) !== `${trpcPath}live.tail`)
      return answerTrpc(request, response);
    void services.openStreams.openInTurn(response, () => answerTrpc(request, response));
  };
}

/** tRPC sets it on live streams. HTTP/2 has no such header, and Node warns when it leaves it out. */
function dropConnectionHeader(response: ServerResponse): void {
  const setHeader = response.setHeader.bind(response);
  response.setHeader = (name, value) => (name === 'connection' ? response : setHeader(name, value));
}

/** Serves the OpenAPI document, which has no data of a space. It is made at the first request. */
function createDescriptionHandler(): RequestListener {
  let text: string | undefined;
  return (_, response) => {
    text ??= JSON.stringify(describeReads());
    sendJson(response, text);
  };
}

function sendJson(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-cache' }).end(text);
}

/** Probes and proxies that remove the base path ask without it. */
function withoutBase({ url = '' }: IncomingMessage, basePath: string): string {
  const rest = url.startsWith(basePath) ? url.slice(basePath.length) : url;
  if (rest.startsWith('/')) return rest;
  return /^(\?|$)/.test(rest) ? `/${rest}` : url;
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '';
}

async function sendReadiness(findUnready: FindUnready, response: ServerResponse): Promise<void> {
  const waitingFor = await findUnready();
  const ready = waitingFor.length === 0;
  response.writeHead(ready ? 200 : 503, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  response.end(JSON.stringify({ ready, waitingFor }));
}

/** Answers a sender that has the wrong address, with an error of ingest's form (docs/api.md §7). */
function sendToIngest(response: ServerResponse, ingestUrl: string): void {
  const details = `This is Weir's dashboard. Events go to ingest: ${ingestUrl}`;
  const body = { error: { id: 'not_found', title: 'Not found', status: 404, details } };
  response.writeHead(404, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  response.end(JSON.stringify(body));
}

export function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'Content-Type': 'text/plain', 'Cache-Control': 'no-store' }).end(`${text}\n`);
}
