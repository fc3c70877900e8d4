import type { IncomingMessage, ServerResponse } from 'node:http';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { IngestError } from '../../../event/errors.ts';
import { Health } from '../../../gen/grpc/health/v1/health_pb.ts';
import { IngestService } from '../../../gen/weir/ingest/v1/ingest_service_pb.ts';
import { ClientGoneError } from '../body/body.ts';
import { type BatchDecoder, type BatchDependencies, ingestBatch } from '../ingest-batch.ts';
import { type RpcEncoding, requireRpcEncoding } from './encoding.ts';
import type { HealthService } from './health.ts';
import { type RespondRpcError, sendRpcMessage, serialize } from './respond.ts';

/** Largest request to the health service. It holds only a service name. */
const healthMessageBytesMax = 4 * 1024;

export type RpcHandler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/** The handler of each RPC, by its path. Each accepts POST in Connect, gRPC and gRPC-Web. */
export function createRpcHandlers(
  dependencies: RpcDependencies,
  health: HealthService,
): ReadonlyMap<string, RpcHandler> {
  const ingestEvents: RpcHandler = (request, response) => ingestEventsRpc(dependencies, request, response);
  const healthRpcs = connectNodeAdapter({
    routes: (router) => void router.service(Health, health),
    readMaxBytes: healthMessageBytesMax,
  });
  const { method } = IngestService;
  return new Map([
    [`/${IngestService.typeName}/${method.ingestEvents.name}`, ingestEvents],
    ...Object.values(Health.method).map(({ name }) => [`/${Health.typeName}/${name}`, healthRpcs] as const),
  ]);
}

interface RpcDependencies extends BatchDependencies {
  rpcDecoder: (encoding: RpcEncoding) => BatchDecoder;
  respondRpcError: RespondRpcError;
}

/**
 * `weir.ingest.v1.IngestService/IngestEvents`, over Connect, gRPC and gRPC-Web: the same checks as a
 * JSON batch, in the same order (ADR 10).
 * @throws IngestError `unsupported_media_type` when the Content-Type names no protocol.
 * @throws ClientGoneError
 */
async function ingestEventsRpc(
  dependencies: RpcDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const encoding = requireRpcEncoding(request);
  try {
    const decoder = dependencies.rpcDecoder(encoding);
    const { protocol } = encoding;
    const receipt = await ingestBatch(dependencies, request, { decoder, protocol });
    const message = serialize(receipt, encoding);
    sendRpcMessage(response, encoding, { headers: receipt.headers, message });
  } catch (thrown) {
    if (thrown instanceof ClientGoneError) throw thrown;
    await dependencies.respondRpcError({ request, response }, encoding, IngestError.from(thrown));
  }
}
