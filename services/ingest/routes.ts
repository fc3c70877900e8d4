import type { IncomingMessage, ServerResponse } from 'node:http';
import { IngestError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import { ClientGoneError } from './body.ts';
import type { Cors } from './cors.ts';
import { type IngestDependencies, ingestEvents } from './ingest-events.ts';
import { logFailure } from './log-failure.ts';
import { sendError, sendJson, sendJsonText } from './respond.ts';
import type { RpcHandler } from './rpc/handlers.ts';
import { refuseUnknownRpc } from './rpc/unknown-rpc.ts';
import { checkHttp } from './strict-http.ts';

export interface RouteDependencies extends IngestDependencies {
  /** What ingest needs and cannot reach at this moment; empty when it is ready. */
  findUnready: () => Promise<string[]>;
  /** The document of `GET /v1/openapi.json`, as JSON. */
  openApiJson: string;
  /** The RPCs, by path. */
  rpcHandlers: ReadonlyMap<string, RpcHandler>;
  cors: Cors;
  log: Logger;
}

type Handler = (
  dependencies: RouteDependencies,
  request: IncomingMessage,
  response: ServerResponse,
) => void | Promise<void>;

/** Every path of the service, and the methods it has. lib/openapi/document.ts describes them. */
export const routes: Record<string, Record<string, Handler>> = {
  '/v1/ingest-events': { POST: ingestEvents },
  '/v1/openapi.json': {
    GET: ({ openApiJson }, _, response) => sendJsonText(response, 200, openApiJson),
  },
  '/healthz': { GET: (_, _request, response) => sendJson(response, 200, { status: 'ok' }) },
  '/readyz': { GET: sendReadiness },
};

/** Finds the route of a request, runs it, and turns whatever it throws into an answer. It never rejects. */
export async function handleRequest(
  dependencies: RouteDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    checkHttp(request, response);
    if (dependencies.cors(request, response)) return;
    const handler = findHandler(dependencies, request, response);
    await handler(dependencies, request, response);
  } catch (thrown) {
    if (thrown instanceof ClientGoneError) return;
    const error = IngestError.from(thrown);
    const { log } = dependencies;
    logFailure(log, error);
    await sendError(request, response, error).catch((failure) => {
      log.error({ err: failure }, 'an answer could not be sent');
      request.destroy();
    });
  }
}

function findHandler(
  { rpcHandlers }: RouteDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Handler {
  const path = pathOf(request.url ?? '');
  const rpc = rpcHandlers.get(path);
  const methods = rpc === undefined ? routesAt(path) : { POST: withoutDependencies(rpc) };
  if (methods === undefined) return withoutDependencies(refuseUnknownRpc);
  const handler = Object.hasOwn(methods, request.method ?? '') ? methods[request.method ?? ''] : undefined;
  if (handler !== undefined) return handler;
  const allowed = Object.keys(methods).join(', ');
  response.setHeader('Allow', allowed);
  throw new IngestError('method_not_allowed', `This path takes ${allowed} only.`);
}

function routesAt(path: string): Record<string, Handler> | undefined {
  return Object.hasOwn(routes, path) ? routes[path] : undefined;
}

function withoutDependencies(handler: RpcHandler): Handler {
  return (_, request, response) => handler(request, response);
}

/** A proxy may send the whole URL in the place of the path (RFC 9112, absolute-form). */
function pathOf(target: string): string {
  return (target.startsWith('/') ? target.split('?', 1)[0] : URL.parse(target)?.pathname) ?? '';
}

async function sendReadiness(
  { findUnready }: RouteDependencies,
  _: IncomingMessage,
  response: ServerResponse,
) {
  const unready = await findUnready();
  sendJson(response, unready.length === 0 ? 200 : 503, { ready: unready.length === 0, waitingFor: unready });
}
