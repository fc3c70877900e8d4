import type { IncomingMessage, ServerResponse } from 'node:http';
import { IngestError } from '../../event/errors.ts';
import { parseHttpEncoding, type RespondExportError } from './otlp/respond/http-response.ts';
import { parseRpcEncoding } from './rpc/encoding.ts';
import type { RespondRpcError } from './rpc/respond-error.ts';

/**
 * Sends UNIMPLEMENTED for a gRPC or gRPC-Web call to an unknown path: an HTTP 404 carries neither a status that these clients
 * read nor a detail. An exporter that posted protobuf gets a google.rpc.Status, which it can log.
 *
 * @throws IngestError `not_found` for every other request.
 */
export async function answerUnknownPath(
  dependencies: { respondRpcError: RespondRpcError; respondExportError: RespondExportError },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const error = new IngestError('not_found', 'There is nothing at this path.');
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
