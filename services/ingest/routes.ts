import type { IncomingMessage, ServerResponse } from 'node:http';
import { IngestError } from '../../event/errors.ts';
import type { FindUnready } from '../../platform/readiness.ts';
import { ClientGoneError } from './body/body.ts';
import { type BatchDecoder, ingestBatch } from './ingest-batch.ts';
import { type ExportDependencies, exportOverHttp, signals } from './otlp/export.ts';
import { findExporterHandlers } from './otlp/exporter-paths.ts';
import type { MediaDependencies } from './otlp/media/media-doors.ts';
import { parseHttpEncoding } from './otlp/respond/encoding.ts';
import type { RespondExportError } from './otlp/respond/respond.ts';
import type { Cors } from './respond/cors.ts';
import { sendJson, sendJsonText } from './respond/respond.ts';
import type { RespondError } from './respond/respond-error.ts';
import { parseRpcEncoding } from './rpc/encoding.ts';
import type { RpcHandler } from './rpc/handlers.ts';
import type { RespondRpcError } from './rpc/respond.ts';

export interface RouteDependencies extends ExportDependencies, MediaDependencies {
  jsonDecoder: BatchDecoder;
  findUnready: FindUnready;
  /** The response of `GET /v1/openapi.json`. */
  openApiJson: string;
  /** The RPCs, by path. */
  rpcHandlers: ReadonlyMap<string, RpcHandler>;
  cors: Cors;
  respondError: RespondError;
  respondRpcError: RespondRpcError;
}

type Handler = (
  dependencies: RouteDependencies,
  request: IncomingMessage,
  response: ServerResponse,
) => void | Promise<void>;

/** The paths and methods of the JSON API. openapi/document.ts describes them. */
export const routes: Record<string, Record<string, Handler>> = {
  '/v1/ingest-events': { POST: ingestEvents },
  '/v1/traces': { POST: exportOverHttp(signals.traces) },
  '/v1/openapi.json': {
    GET: ({ openApiJson }, _, response) => sendJsonText(response, 200, openApiJson),
  },
  '/healthz': { GET: (_, _request, response) => sendJson(response, 200, { status: 'ok' }) },
  '/readyz': { GET: sendReadiness },
};

/** Runs the handler of a request's path, and sends the error that it throws. Never rejects. */
export async function handleRequest(
  dependencies: RouteDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    if (dependencies.cors(request, response)) return;
    const handler = findHandler(dependencies, request, response);
    await handler(dependencies, request, response);
  } catch (thrown) {
    if (thrown instanceof ClientGoneError) return;
    await dependencies.respondError(request, response, IngestError.from(thrown));
  }
}

function findHandler(
  { rpcHandlers }: RouteDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Handler {
  const path = pathOf(request.url ?? '');
  const rpc = rpcHandlers.get(path);
  const methods: Record<string, Handler> | undefined = rpc
    ? { POST: (_, ...exchange) => rpc(...exchange) }
    : Object.hasOwn(routes, path)
      ? routes[path]
      : findExporterHandlers(path);
  if (methods === undefined) return answerUnknownPath;
  const handler = Object.hasOwn(methods, request.method ?? '') ? methods[request.method ?? ''] : undefined;
  if (handler !== undefined) return handler;
  const allowed = Object.keys(methods).join(', ');
  response.setHeader('Allow', allowed);
  throw new IngestError('method_not_allowed', `This path accepts only ${allowed}.`);
}

/** A client may send the whole URL instead of the path (RFC 9112 §3.2.2, absolute-form). */
function pathOf(target: string): string {
  return (target.startsWith('/') ? target.split('?', 1)[0] : URL.parse(target)?.pathname) ?? '';
}

/** `POST /v1/ingest-events` (docs/api.md §4). */
async function ingestEvents(
  dependencies: RouteDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const kind = { decoder: dependencies.jsonDecoder, protocol: 'json' } as const;
  const { message, headers } = await ingestBatch(dependencies, request, kind);
  sendJson(response, 202, { message }, headers);
}

async function sendReadiness(
  { findUnready }: RouteDependencies,
  _: IncomingMessage,
  response: ServerResponse,
) {
  const waitingFor = await findUnready();
  const ready = waitingFor.length === 0;
  sendJson(response, ready ? 200 : 503, { ready, waitingFor });
}

/**
 * Sends UNIMPLEMENTED for a gRPC or gRPC-Web call to an unknown path: these clients do not read the status of
 * an HTTP 404. An exporter that posted protobuf gets a google.rpc.Status, which exporters log.
 * @throws IngestError `not_found` for every other request.
 */
async function answerUnknownPath(
  dependencies: { respondRpcError: RespondRpcError; respondExportError: RespondExportError },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const error = new IngestError('not_found', describePath(request.url ?? ''));
  const contentType = request.headers['content-type'] ?? '';
  const encoding = parseRpcEncoding(contentType);
  const exportEncoding = parseHttpEncoding(contentType);
  if (encoding !== undefined && encoding.protocol !== 'connect') {
    await dependencies.respondRpcError({ request, response }, encoding, error);
  } else if (exportEncoding?.isJson === false) {
    await dependencies.respondExportError({ request, response }, exportEncoding, error);
  } else {
    throw error;
  }
}

/** A program that reads may have the address of ingest by mistake. */
function describePath(path: string): string {
  return /^\/(trpc|export|raw|audit|mcp)\b/.test(path)
    ? "This is Weir's ingest, which takes events. Programs read from the address of the dashboard."
    : 'There is nothing at this path.';
}
