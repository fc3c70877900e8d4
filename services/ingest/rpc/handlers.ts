import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createConnectRouter, createContextValues } from '@connectrpc/connect';
import type { UniversalHandler, UniversalServerResponse } from '@connectrpc/connect/protocol';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { Health } from '../../../gen/grpc/health/v1/health_pb.ts';
import { IngestService } from '../../../gen/weir/ingest/v1/ingest_service_pb.ts';
import { IngestError } from '../../../lib/errors.ts';
import { healthMessageBytesMax } from '../../../lib/limits.ts';
import { messageForm } from './formats.ts';
import { createHealth } from './health.ts';
import { callKey, createIngestService, type RpcDependencies } from './ingest-service.ts';

export type RpcHandler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/**
 * The handler of each RPC, by its path. Each speaks Connect, gRPC and gRPC-Web, and takes POST.
 *
 * @param options `findUnready` is for the health service, whose watchers are let go when `stopping` is aborted.
 */
export function createRpcHandlers(
  dependencies: RpcDependencies,
  { findUnready, stopping }: { findUnready: () => Promise<string[]>; stopping: AbortSignal },
): ReadonlyMap<string, RpcHandler> {
  const ingest = createConnectRouter({ acceptCompression: [] }).service(
    IngestService,
    createIngestService(dependencies),
  );
  const health = connectNodeAdapter({
    routes: (router) => void router.service(Health, createHealth(findUnready)),
    readMaxBytes: healthMessageBytesMax,
    shutdownSignal: stopping,
  });
  return new Map<string, RpcHandler>([
    ...ingest.handlers.map((handler) => [handler.requestPath, handleOwnBody(handler)] as const),
    ...Object.values(Health.method).map(({ name }) => [`/${Health.typeName}/${name}`, health] as const),
  ]);
}

/** Serves an RPC whose implementation reads the request itself. Connect is given an empty message in its place. */
function handleOwnBody(handler: UniversalHandler): RpcHandler {
  return async (request, response) => {
    const contentType = request.headers['content-type'] ?? '';
    if (!handler.supportedContentType(contentType)) {
      throw new IngestError(
        'unsupported_media_type',
        'The Content-Type is none of Connect, gRPC and gRPC-Web.',
      );
    }
    const form = messageForm(contentType);
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const answer = await handler({
      httpVersion: request.httpVersion,
      method: 'POST',
      url: `http://weir${handler.requestPath}`,
      header: protocolHeaders(request),
      body: emptyMessage(form),
      signal: gone.signal,
      contextValues: createContextValues().set(callKey, { request, form }),
    });
    await send(answer, response, gone.signal);
  };
}

/** What Connect needs to know of a request. It is not told of compression: the message it gets has none. */
function protocolHeaders({ headers }: IncomingMessage): Headers {
  const names = ['content-type', 'connect-protocol-version', 'connect-timeout-ms', 'grpc-timeout'];
  return new Headers(
    names.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
  );
}

async function* emptyMessage({ isEnveloped, isJson }: { isEnveloped: boolean; isJson: boolean }) {
  const message = Buffer.from(isJson ? '{}' : '');
  yield isEnveloped ? Buffer.concat([Buffer.from([0, 0, 0, 0, message.length]), message]) : message;
}

async function send(
  { status, header, body, trailer }: UniversalServerResponse,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return;
  response.writeHead(status, Object.fromEntries(header ?? []));
  for await (const chunk of body ?? []) {
    if (!response.write(chunk)) await once(response, 'drain', { signal });
  }
  if (trailer !== undefined) response.addTrailers(Object.fromEntries(trailer));
  response.end();
}
