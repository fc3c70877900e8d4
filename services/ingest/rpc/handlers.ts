import type { IncomingMessage, ServerResponse } from 'node:http';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { Health } from '../../../gen/grpc/health/v1/health_pb.ts';
import { IngestService } from '../../../gen/weir/ingest/v1/ingest_service_pb.ts';
import { healthMessageBytesMax } from '../limits.ts';
import type { HealthService } from './health.ts';
import { ingestEventsRpc, type RpcDependencies } from './ingest-rpc.ts';

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
