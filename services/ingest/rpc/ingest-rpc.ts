import type { IncomingMessage, ServerResponse } from 'node:http';
import { IngestError } from '../../../event/errors.ts';
import { ClientGoneError } from '../body/body.ts';
import { type BatchDecoder, type BatchDependencies, ingestBatch } from '../ingest-batch.ts';
import { type RpcEncoding, requireRpcEncoding } from './encoding.ts';
import { sendReceipt } from './respond.ts';
import type { RespondRpcError } from './respond-error.ts';

export interface RpcDependencies extends BatchDependencies {
  rpcDecoder: (encoding: RpcEncoding) => BatchDecoder;
  respondRpcError: RespondRpcError;
}

/**
 * `weir.ingest.v1.IngestService/IngestEvents`, over Connect, gRPC and gRPC-Web: the same checks as a JSON batch, in the
 * same order (ADR 0010).
 *
 * @throws IngestError `unsupported_media_type` when the Content-Type names no protocol.
 * @throws ClientGoneError
 */
export async function ingestEventsRpc(
  dependencies: RpcDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const encoding = requireRpcEncoding(request);
  try {
    const decoder = dependencies.rpcDecoder(encoding);
    const { protocol } = encoding;
    sendReceipt(response, encoding, await ingestBatch(dependencies, request, { decoder, protocol }));
  } catch (thrown) {
    if (thrown instanceof ClientGoneError) throw thrown;
    await dependencies.respondRpcError({ request, response }, encoding, IngestError.from(thrown));
  }
}
