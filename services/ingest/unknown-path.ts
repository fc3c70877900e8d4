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
